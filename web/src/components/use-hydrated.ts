import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** False while prerendering and hydrating, true from the render after it. */
export function useHydrated() {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
