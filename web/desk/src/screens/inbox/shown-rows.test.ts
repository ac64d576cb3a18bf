import type { Row } from '@desk/backend/reports';
import { expect, test } from 'vitest';
import { goneRows, keepOrder, mergePage } from './shown-rows';

const row = (id: string, hour: number, status: Row['status'] = 'new') =>
  ({ id, status, created_at: `2026-11-03T${String(hour).padStart(2, '0')}:00:00Z` }) as Row;
const ids = ({ rows }: { rows: Row[] }) => rows.map(({ id }) => id).join('');
const shown = (rows: Row[], done = true) => ({ rows, arrived: 0, done });

test('new reports come before the rows that were loaded', () => {
  const merged = mergePage([row('b', 9), row('a', 8)], [row('d', 11), row('c', 10)], 2, undefined);
  expect(ids(merged)).toBe('dcba');
  expect(merged.done).toBe(false);
});

test('a row that left the page is gone, an older one stays', () => {
  const old = [row('d', 11), row('c', 10), row('b', 9), row('a', 8)];
  expect(ids(mergePage(old, [row('d', 11), row('b', 9, 'closed')], 2, undefined))).toBe('dba');
  expect(ids(mergePage([...old].reverse(), [row('a', 8), row('c', 10)], 2, 'oldest'))).toBe('acd');
});

test('rows of one moment are in the order of their ids', () => {
  expect(ids(mergePage([row('c', 9), row('a', 9)], [row('b', 9)], 1, undefined))).toBe('ba');
});

test('a page that is not full has all reports', () => {
  expect(mergePage([row('a', 8)], [row('b', 9)], 2, undefined)).toMatchObject({
    rows: [row('b', 9)],
    done: true,
  });
  expect(mergePage([row('a', 8)], [], 2, undefined)).toMatchObject({ rows: [], done: true });
});

test('shown rows keep their order: arrivals wait, and a row that left the filter stays with its present status', () => {
  const old = shown([row('c', 10), row('b', 9), row('a', 8)]);
  const page = [row('e', 12), row('d', 11), row('c', 10), row('a', 8)];
  expect(goneRows(old.rows, page, 30, undefined).map(({ id }) => id)).toEqual(['b']);
  const kept = keepOrder(old, page, [row('b', 9, 'actioned')], 30, undefined);
  expect(ids(kept)).toBe('cba');
  expect(kept.rows[1]?.status).toBe('actioned');
  expect(kept.arrived).toBe(2);
});

test('a deleted row leaves, and rows beyond a full page are left alone', () => {
  const old = shown([row('d', 11), row('c', 10), row('b', 9), row('a', 8)], false);
  const page = [row('d', 11), row('b', 9)];
  expect(goneRows(old.rows, page, 2, undefined).map(({ id }) => id)).toEqual(['c']);
  expect(keepOrder(old, page, [], 2, undefined)).toMatchObject({ arrived: 0, done: false });
  expect(ids(keepOrder(old, page, [], 2, undefined))).toBe('dba');
});

test('with the oldest first, arrivals have their place at the end at once', () => {
  const kept = keepOrder(
    shown([row('a', 8), row('b', 9)]),
    [row('a', 8), row('b', 9), row('c', 10)],
    [],
    30,
    'oldest',
  );
  expect(ids(kept)).toBe('abc');
  expect(kept.arrived).toBe(0);
});
