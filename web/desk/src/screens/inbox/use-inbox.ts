import { listen } from '@desk/backend/listen';
import {
  countReports,
  type Filter,
  firstSize,
  largePage,
  listReports,
  pageSize,
  type Row,
} from '@desk/backend/reports';
import type { StatusCounts } from '@desk/lib/status';
import { useCallback, useEffect, useRef, useState } from 'react';
import { mergePage } from './merge-page';

export interface Inbox {
  rows: Row[];
  counts: StatusCounts | undefined;
  done: boolean; // there are no older reports
  loading: boolean;
  error: unknown;
  live: boolean;
  more: () => void;
  refresh: () => void;
  patch: (id: string, change: Partial<Row>) => void;
}

/**
 * The rows of a filter, loaded page by page, and kept fresh: by Realtime, and every minute and at
 * each focus without it.
 */
export function useInbox(filter: Filter): Inbox {
  const key = JSON.stringify(filter);
  const [state, setState] = useState<{ key: string; rows: Row[]; done: boolean }>({
    key: '',
    rows: [],
    done: false,
  });
  const [counts, setCounts] = useState<Inbox['counts']>();
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<unknown>();
  const [live, setLive] = useState(false);
  const run = useRef(0);
  const rows = useRef<Row[]>([]);
  rows.current = state.key === key ? state.rows : [];

  const refresh = useCallback(async () => {
    const mine = ++run.current;
    const wanted: Filter = JSON.parse(key);
    setLoading(true);
    try {
      const size = Math.max(firstSize, Math.min(pageSize, rows.current.length));
      const [page, numbers] = await Promise.all([listReports(wanted, size), countReports(wanted)]);
      if (mine !== run.current) return;
      setState((old) => ({
        key,
        ...mergePage(old.key === key ? old.rows : [], page, size),
      }));
      setCounts(numbers);
      setError(undefined);
    } catch (failure) {
      if (mine === run.current) setError(failure);
    }
    if (mine === run.current) setLoading(false);
  }, [key]);

  const more = useCallback(async () => {
    const last = rows.current.at(-1);
    if (!last || loading) return;
    const mine = ++run.current;
    setLoading(true);
    try {
      const size = rows.current.length < 1000 ? pageSize : largePage;
      const page = await listReports(JSON.parse(key), size, last);
      if (mine !== run.current) return;
      setState((old) => ({ key, rows: [...old.rows, ...page], done: page.length < size }));
    } catch (failure) {
      if (mine === run.current) setError(failure);
    }
    if (mine === run.current) setLoading(false);
  }, [key, loading]);

  useEffect(() => {
    void refresh();
  }, [refresh]);

  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer); // a burst of changes is one refresh
      timer = setTimeout(() => latest.current(), 300);
    };
    const stop = listen('reports', soon, setLive);
    window.addEventListener('focus', soon);
    return () => {
      stop();
      clearTimeout(timer);
      window.removeEventListener('focus', soon);
    };
  }, []);
  useEffect(() => {
    if (live) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), 60_000);
    return () => clearInterval(timer);
  }, [live]);

  const patch = useCallback((id: string, change: Partial<Row>) => {
    setState((old) => ({
      ...old,
      rows: old.rows.map((row) => (row.id === id ? { ...row, ...change } : row)),
    }));
  }, []);

  return {
    rows: rows.current,
    counts,
    done: state.key === key && state.done,
    loading,
    error,
    live,
    more,
    refresh,
    patch,
  };
}
