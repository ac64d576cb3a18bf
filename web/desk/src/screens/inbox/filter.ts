import type { Filter } from '@desk/backend/reports';

/** Returns how many filters are on besides the status, the search and those of the views. */
export function moreFilters({ region, product, since, until, photo }: Filter) {
  return [region, product, since, until, photo].filter(Boolean).length;
}

/** Returns a filter without those that moreFilters counts. */
export function withoutMore(filter: Filter): Filter {
  return {
    ...filter,
    region: undefined,
    product: undefined,
    since: undefined,
    until: undefined,
    photo: undefined,
  };
}

/** Returns a filter with the words of the search field, or undefined if they are its own. */
export function withSearch(filter: Filter, words: string): Filter | undefined {
  const search = words.trim();
  return search === (filter.search ?? '') ? undefined : { ...filter, search: search || undefined };
}

/** Returns why a list is empty: there is no report, none is new, or none matches the filter. */
export function emptyReason({ status, order: _, ...others }: Filter): 'none' | 'emptyNew' | 'empty' {
  if (Object.values(others).some(Boolean)) return 'empty';
  if (!status) return 'none';
  return status[0] === 'new' ? 'emptyNew' : 'empty';
}
