import type { Row } from '@desk/backend/reports';
import { expect, test } from 'vitest';
import { mergePage } from './merge-page';

const row = (id: string, hour: number, status: Row['status'] = 'new') =>
  ({ id, status, created_at: `2026-11-03T${String(hour).padStart(2, '0')}:00:00Z` }) as Row;
const ids = ({ rows }: { rows: Row[] }) => rows.map(({ id }) => id).join('');

test('new reports come before the rows that were loaded', () => {
  const old = [row('b', 9), row('a', 8)];
  const merged = mergePage(old, [row('d', 11), row('c', 10)], 2);
  expect(ids(merged)).toBe('dcba');
  expect(merged.done).toBe(false);
});

test('a row of the page replaces its old form', () => {
  const merged = mergePage([row('b', 9), row('a', 8)], [row('b', 9, 'closed')], 1);
  expect(ids(merged)).toBe('ba');
  expect(merged.rows[0]?.status).toBe('closed');
});

test('a row that left the page is gone, an older one stays', () => {
  const old = [row('d', 11), row('c', 10), row('b', 9), row('a', 8)];
  expect(ids(mergePage(old, [row('d', 11), row('b', 9)], 2))).toBe('dba');
});

test('rows of one moment are in the order of their ids', () => {
  expect(ids(mergePage([row('c', 9), row('a', 9)], [row('b', 9)], 1))).toBe('ba');
});

test('a page that is not full has all reports', () => {
  expect(mergePage([row('a', 8)], [row('b', 9)], 2)).toEqual({ rows: [row('b', 9)], done: true });
  expect(mergePage([row('a', 8)], [], 2)).toEqual({ rows: [], done: true });
});
