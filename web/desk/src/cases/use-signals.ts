import { useEffect, useRef } from 'react';
import { useReportsChannel } from './reports-channel';

/** Milliseconds in which signals become one refresh. */
const burst = 300;

/**
 * Calls refresh when reports change: by Realtime, at each focus, and every minute without Realtime.
 * Returns whether Realtime tells of changes.
 */
export function useSignals(refresh: () => void): boolean {
  const { live, hear } = useReportsChannel();
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(), burst);
    };
    const stop = hear(soon);
    window.addEventListener('focus', soon);
    return () => {
      stop();
      clearTimeout(timer);
      window.removeEventListener('focus', soon);
    };
  }, [hear]);
  useEffect(() => {
    if (live) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), 60_000);
    return () => clearInterval(timer);
  }, [live]);
  return live;
}
