import type { Filter } from '@desk/backend/reports';

/** Returns how many filters are on besides the status and the search. */
export function moreFilters({ region, product, since, until, photo, mine }: Filter) {
  return [region, product, since, until, photo, mine].filter(Boolean).length;
}

/** Returns a filter without those that moreFilters counts. */
export const withoutMore = ({ status, search }: Filter): Filter => ({ status, search });

/** Returns a filter with the words of the search field, or undefined if they are its own. */
export function withSearch(filter: Filter, words: string): Filter | undefined {
  const search = words.trim();
  return search === (filter.search ?? '') ? undefined : { ...filter, search: search || undefined };
}

/** Returns why a list is empty: there is no report, none is new, or none matches the filter. */
export function emptyReason({ status, ...others }: Filter): 'none' | 'emptyNew' | 'empty' {
  if (Object.values(others).some(Boolean)) return 'empty';
  if (!status) return 'none';
  return status[0] === 'new' ? 'emptyNew' : 'empty';
}
