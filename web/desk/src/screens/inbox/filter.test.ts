import { expect, test } from 'vitest';
import { emptyReason, moreFilters, withoutMore, withSearch } from './filter';

const all = {
  status: ['closed' as const],
  region: 'Sool',
  product: 'Paracetamol',
  since: '2026-11-01T00:00:00+03:00',
  until: '2026-11-02T00:00:00+03:00',
  photo: true as const,
  mine: true as const,
  search: 'DW-2B3C',
};

test('moreFilters counts neither the status, the search nor the views', () => {
  expect(moreFilters(all)).toBe(5);
  expect(moreFilters({ status: ['new'], search: 'x', region: undefined })).toBe(0);
});

test('withoutMore keeps the status, the search and the views', () => {
  expect(withoutMore(all)).toEqual({ status: ['closed'], mine: true, search: 'DW-2B3C' });
});

test('withSearch changes the filter only for other words', () => {
  expect(withSearch({ region: 'Sool' }, ' panadol ')).toEqual({ region: 'Sool', search: 'panadol' });
  expect(withSearch({ search: 'panadol' }, 'panadol ')).toBeUndefined();
  expect(withSearch({}, '  ')).toBeUndefined();
  expect(withSearch({ search: 'panadol' }, '')).toEqual({ search: undefined });
});

test.each([
  [{}, 'none'],
  [{ search: undefined, region: undefined }, 'none'],
  [{ status: ['new' as const], order: 'oldest' as const }, 'emptyNew'],
  [{ status: ['new' as const] }, 'emptyNew'],
  [{ status: ['closed' as const] }, 'empty'],
  [{ status: ['new' as const], photo: true as const }, 'empty'],
  [{ search: 'x' }, 'empty'],
])('an empty list of %j: %s', (filter, reason) => {
  expect(emptyReason(filter)).toBe(reason);
});
