import {
  countReports,
  type Filter,
  firstSize,
  largePage,
  listReports,
  pageSize,
  type Row,
  rowsOf,
} from '@desk/backend/reports';
import { useSignals } from '@desk/cases/use-signals';
import type { StatusCounts } from '@desk/lib/status';
import { useCallback, useEffect, useRef, useState } from 'react';
import { goneRows, keepOrder, mergePage, type Shown } from './shown-rows';

export interface Inbox extends Shown {
  counts: StatusCounts | undefined;
  loading: boolean;
  error: unknown;
  live: boolean;
  more: () => void;
  /** Reads the list in its own order: arrivals get their place, and rows that left the filter leave. */
  rearrange: () => void;
  /** Brings the shown rows up to date in their order. */
  refresh: () => void;
  patch: (id: string, change: Partial<Row>) => void;
}

/** Changes what is shown, and the numbers of the statuses. */
type Put = (change: (old: Shown) => Shown, numbers?: StatusCounts) => void;

const empty: Shown = { rows: [], arrived: 0, done: false };

/**
 * The rows of a filter, loaded page by page and kept fresh. Their order stays while a person works
 * with them; mayMove says whether rows may move now.
 */
export function useInbox(filter: Filter, mayMove: () => boolean): Inbox {
  const key = JSON.stringify(filter);
  const [state, setState] = useState<{ key: string; shown: Shown }>({ key: '', shown: empty });
  const [counts, setCounts] = useState<Inbox['counts']>();
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<unknown>();
  const run = useRef(0);
  const shown = useRef<Shown>(empty);
  shown.current = state.key === key ? state.shown : empty;

  const movable = useRef(mayMove);
  movable.current = mayMove;
  const wantsOrder = useRef(true); // until the list is read, also by a later load

  /** Loads a part of the list, unless a later load overtakes it. */
  const load = useCallback(
    async (read: (wanted: Filter, put: Put) => Promise<void>) => {
      const mine = ++run.current;
      setLoading(true);
      try {
        await read(JSON.parse(key), (change, numbers) => {
          if (mine !== run.current) return;
          if (numbers) {
            wantsOrder.current = false;
            setCounts(numbers);
          }
          setState((old) => ({ key, shown: change(old.key === key ? old.shown : empty) }));
          setError(undefined);
        });
      } catch (failure) {
        if (mine === run.current) setError(failure);
      }
      if (mine === run.current) setLoading(false);
    },
    [key],
  );

  const refresh = useCallback(
    () =>
      load(async (wanted, put) => {
        const { rows } = shown.current;
        const size = Math.max(firstSize, Math.min(pageSize, rows.length));
        const [page, numbers] = await Promise.all([listReports(wanted, size), countReports(wanted)]);
        const gone = goneRows(rows, page, size, wanted.order).map(({ id }) => id);
        const move = rows.length === 0 || wantsOrder.current || movable.current();
        const found = move || gone.length === 0 ? [] : await rowsOf(gone);
        const { order } = wanted;
        put(
          (old) => (move ? mergePage(old.rows, page, size, order) : keepOrder(old, page, found, size, order)),
          numbers,
        );
      }),
    [load],
  );
  const rearrange = useCallback(() => {
    wantsOrder.current = true;
    return refresh();
  }, [refresh]);

  const more = useCallback(() => {
    const last = shown.current.rows.at(-1);
    if (!last || loading || error !== undefined) return; // after a failure the person tries again
    void load(async (wanted, put) => {
      const size = shown.current.rows.length < 1000 ? pageSize : largePage;
      const page = await listReports(wanted, size, last);
      put((old) => ({ ...old, rows: [...old.rows, ...page], done: page.length < size }));
    });
  }, [load, loading, error]);

  useEffect(() => {
    void rearrange();
  }, [rearrange]);
  const live = useSignals(refresh);

  const patch = useCallback((id: string, change: Partial<Row>) => {
    setState((old) => ({
      ...old,
      shown: {
        ...old.shown,
        rows: old.shown.rows.map((row) => (row.id === id ? { ...row, ...change } : row)),
      },
    }));
  }, []);

  return { ...shown.current, counts, loading, error, live, more, rearrange, refresh, patch };
}
