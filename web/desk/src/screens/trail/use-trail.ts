import { listTrail, type TrailFilter, type TrailRow, trailPage } from '@desk/backend/trail';
import { useEffect, useRef, useState } from 'react';

/** The rows of a filter, loaded page by page. load reads the first page, or the one after a row. */
export function useTrail(filter: TrailFilter) {
  const [rows, setRows] = useState<TrailRow[]>();
  const [done, setDone] = useState(false); // there are no older rows
  const [error, setError] = useState<unknown>();
  const run = useRef(0);
  const load = async (before?: number) => {
    const mine = ++run.current;
    try {
      const page = await listTrail(filter, before);
      if (mine !== run.current) return;
      setRows((old) => (before ? [...(old ?? []), ...page] : page));
      setDone(page.length < trailPage);
      setError(undefined);
    } catch (failure) {
      if (mine === run.current) setError(failure);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: load changes with the filter alone
  useEffect(() => {
    const timer = setTimeout(() => load(), 200);
    return () => clearTimeout(timer);
  }, [filter]);
  return { rows, done, error, load };
}
