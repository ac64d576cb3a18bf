import { useCallback, useEffect, useRef, useState } from 'react';

/** Milliseconds after which an action counts as slow. Labels do not change for a shorter one. */
const slowAfter = 400;

export type Busy = 'no' | 'yes' | 'slow';

/**
 * Runs one action at a time. run ignores a call until the promise of the call before is settled;
 * an action that returns no promise keeps nothing waiting.
 */
export function useBusy() {
  const running = useRef(false);
  const [busy, setBusy] = useState<Busy>('no');
  useEffect(() => {
    if (busy !== 'yes') return;
    const timer = setTimeout(() => setBusy('slow'), slowAfter);
    return () => clearTimeout(timer);
  }, [busy]);
  const run = useCallback(async (action: () => unknown) => {
    if (running.current) return;
    const result = action();
    if (!(result instanceof Promise)) return;
    running.current = true;
    setBusy('yes');
    try {
      await result;
    } finally {
      running.current = false;
      setBusy('no');
    }
  }, []);
  return { busy, run };
}
