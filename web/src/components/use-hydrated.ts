import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** Returns false during prerendering and hydration, and true afterwards. */
export function useHydrated() {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
