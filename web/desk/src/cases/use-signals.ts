import { useEffect, useRef } from 'react';
import { coalesce } from './coalesce';
import { useReportsChannel } from './reports-channel';

/**
 * Calls refresh when reports change: by Realtime, at each focus, and every minute without Realtime.
 * Returns whether Realtime tells of changes.
 */
export function useSignals(refresh: () => Promise<unknown>): boolean {
  const { live, hear } = useReportsChannel();
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const { signal, stop } = coalesce(() => latest.current());
    const leave = hear(signal);
    window.addEventListener('focus', signal);
    return () => {
      leave();
      stop();
      window.removeEventListener('focus', signal);
    };
  }, [hear]);
  useEffect(() => {
    if (live) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), 60_000);
    return () => clearInterval(timer);
  }, [live]);
  return live;
}
