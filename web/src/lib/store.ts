/** A reducer and its state outside of React, to be read with useSyncExternalStore. */
export interface Store<State, Action> {
  state: () => State;
  dispatch: (action: Action) => void;
  /** Calls the listener after each action; returns the function that unsubscribes it. */
  subscribe: (listener: () => void) => () => void;
}

export function createStore<State, Action>(
  reduce: (state: State, action: Action) => State,
  initial: State,
): Store<State, Action> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    state: () => state,
    dispatch: (action) => {
      state = reduce(state, action);
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
