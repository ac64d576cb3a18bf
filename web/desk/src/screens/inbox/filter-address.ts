import type { Filter } from '@desk/backend/reports';
import { statuses } from '@desk/lib/status';

const texts = ['region', 'product', 'since', 'until'] as const;
const marks = ['photo', 'mine', 'unassigned', 'serious', 'overdue'] as const;

/**
 * Returns a filter as the query of an address, such as '?status=new&photo=1'. The words of a search
 * may name a person, so they are not in the address: the entry of the history has them.
 */
export function toQuery(filter: Filter): string {
  const query = new URLSearchParams();
  for (const status of filter.status ?? []) query.append('status', status);
  for (const name of texts) if (filter[name]) query.set(name, filter[name]);
  for (const name of marks) if (filter[name]) query.set(name, '1');
  if (filter.order) query.set('order', filter.order);
  const text = query.toString();
  return text && `?${text}`;
}

/** Returns the filter of a query and of the searched words. It leaves out what it does not know. */
export function fromQuery(text: string, search?: string): Filter {
  const query = new URLSearchParams(text);
  const status = statuses.filter((each) => query.getAll('status').includes(each));
  const filter: Filter = {};
  if (status.length > 0) filter.status = status;
  for (const name of texts) {
    const value = query.get(name);
    if (value && (name === 'region' || name === 'product' || !Number.isNaN(Date.parse(value))))
      filter[name] = value;
  }
  for (const name of marks) if (query.get(name) === '1') filter[name] = true;
  if (query.get('order') === 'oldest') filter.order = 'oldest';
  if (search) filter.search = search;
  return filter;
}
