import type { Filter } from '@desk/backend/reports';
import { useCallback, useMemo } from 'react';
import { useLocation, useNavigate } from 'react-router-dom';
import { fromQuery, toQuery } from './filter-address';

/** The query of the address at this moment; the screen has it some moments later. */
export const queryNow = () => /\?.*$/.exec(window.location.hash)?.[0] ?? '';

/** The words of the search, which the entry of the history keeps. */
interface Entry {
  search?: string;
}

const entryNow = () => (window.history.state?.usr ?? null) as Entry | null;

/** The filter of the address, and functions that change it and open reports with it. */
export function useFilter() {
  const location = useLocation();
  const navigate = useNavigate();
  const search = (location.state as Entry | null)?.search;
  const filter = useMemo(() => fromQuery(location.search, search), [location.search, search]);
  const setFilter = useCallback(
    (next: Filter) => {
      const path = window.location.hash.slice(1).replace(/\?.*$/, '');
      // In a transition a box would show its old state after a touch, until the list is drawn.
      navigate(path + toQuery(next), { replace: true, state: { search: next.search }, flushSync: true });
    },
    [navigate],
  );
  const open = useCallback(
    (reference: string | undefined) =>
      navigate(`/reports${reference ? `/${reference}` : ''}${queryNow()}`, {
        replace: true,
        state: entryNow(),
      }),
    [navigate],
  );
  return { filter, setFilter, open };
}
