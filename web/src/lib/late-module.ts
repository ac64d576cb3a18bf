import { loadOnce } from './load-once';

/** A module that is imported when it is first needed. */
export interface LateModule<Module> {
  load: () => Promise<Module>;
  /** The module once it is loaded. */
  current: () => Module | undefined;
  /** Calls the listener when the module is loaded; returns the function that unsubscribes it. */
  subscribe: (listener: () => void) => () => void;
}

export function lateModule<Module>(load: () => Promise<Module>): LateModule<Module> {
  let current: Module | undefined;
  const listeners = new Set<() => void>();
  return {
    load: loadOnce(async () => {
      current = await load();
      for (const listener of listeners) listener();
      return current;
    }),
    current: () => current,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
