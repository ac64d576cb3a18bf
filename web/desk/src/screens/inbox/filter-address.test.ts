import type { Filter } from '@desk/backend/reports';
import { expect, test } from 'vitest';
import { fromQuery, toQuery } from './filter-address';

const full: Filter = {
  status: ['new', 'reviewing'],
  region: '-',
  product: 'A & B',
  since: '2026-11-01T00:00:00+03:00',
  until: '2026-11-02T00:00:00+03:00',
  photo: true,
  overdue: true,
  order: 'oldest',
};

test('a filter comes back from its address', () => {
  expect(fromQuery(toQuery(full))).toEqual(full);
  expect(toQuery({})).toBe('');
  expect(fromQuery('')).toEqual({});
});

test('the words of a search are not in the address', () => {
  expect(toQuery({ search: 'Amina 0611000001' })).toBe('');
  expect(fromQuery('?status=new', 'Amina')).toEqual({ status: ['new'], search: 'Amina' });
});

test('unknown values of an address are left out', () => {
  expect(fromQuery('?status=gone&since=yesterday&photo=yes&order=newest&x=1')).toEqual({});
});
