import { listen } from '@desk/backend/listen';
import type { Here } from '@desk/backend/presence';
import { useAccess } from '@desk/session/access';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { pacedShow } from './paced-show';

interface Channel {
  live: boolean;
  /** Calls heard for each signal that reports changed. Returns a function that ends it. */
  hear: (heard: () => void) => () => void;
  /** Signals a change of this page itself, which Realtime tells later or not at all. */
  tell: () => void;
  here: Here;
  /** Tells colleagues which report is open. */
  show: (report: string | null) => void;
}

const Context = createContext<Channel | null>(null);

/** Joins the channel of the reports: signals that reports changed, and who has which report open. */
export function ReportsChannel({ children }: { children: ReactNode }) {
  const { id } = useAccess();
  const [live, setLive] = useState(false);
  const [here, setHere] = useState<Here>({});
  const listeners = useRef(new Set<() => void>());
  const paced = useRef(pacedShow());
  const tell = useCallback(() => {
    for (const heard of listeners.current) heard();
  }, []);
  useEffect(() => {
    const pace = paced.current;
    const stop = listen(
      'reports',
      tell,
      (joined) => {
        setLive(joined);
        if (!joined) setHere({});
      },
      { member: id ?? '', changed: setHere, ready: pace.connect },
    );
    return () => {
      pace.stop();
      stop();
    };
  }, [id, tell]);
  const hear = useCallback((heard: () => void) => {
    listeners.current.add(heard);
    return () => void listeners.current.delete(heard);
  }, []);
  const value = useMemo(
    () => ({ live, hear, tell, here, show: paced.current.show }),
    [live, hear, tell, here],
  );
  return <Context value={value}>{children}</Context>;
}

export function useReportsChannel(): Channel {
  const value = use(Context);
  if (!value) throw new Error('useReportsChannel needs a ReportsChannel above it');
  return value;
}
