import { en } from '@desk/i18n/en';
import { csv } from '@desk/lib/csv';
import { expect, test } from 'vitest';
import { everyWeek, figuresTable, largestFirst, regionCounts } from './figures';
import { periodStart } from './period';

test('everyWeek adds the weeks without a report', () => {
  expect(
    everyWeek([
      ['2026-10-19', 3],
      ['2026-11-09', 1],
    ]),
  ).toEqual([
    ['2026-10-19', 3],
    ['2026-10-26', 0],
    ['2026-11-02', 0],
    ['2026-11-09', 1],
  ]);
  expect(everyWeek([['2026-10-19', 3]])).toEqual([['2026-10-19', 3]]);
  expect(everyWeek([])).toEqual([]);
});

test('regionCounts has every region, and the reports without one last', () => {
  expect(regionCounts({ Sool: 4, '-': 2 }, ['Sanaag', 'Sool'], 'No known region')).toEqual([
    ['Sanaag', 0],
    ['Sool', 4],
    ['No known region', 2],
  ]);
});

test('largestFirst keeps the order of equal numbers', () => {
  expect(
    largestFirst([
      ['a', 1],
      ['b', 5],
      ['c', 1],
    ]).map(([name]) => name),
  ).toEqual(['b', 'a', 'c']);
});

test('figuresTable has three tables', () => {
  const figures = {
    total: 4,
    weeks: [['2026-11-02', 4]] as [string, number][],
    statuses: {},
    regions: { Sool: 4 },
    products: [['=Panadol', 4]] as [string, number][],
    first_action_hours: { median: null, p90: null, acted: 0, waiting: 4 },
  };
  expect(csv(figuresTable(figures, en)).split('\r\n')).toEqual([
    'Week of,Number',
    '2026-11-02,4',
    '',
    'Region,Number',
    'Sool,4',
    '',
    'Product,Number',
    "'=Panadol,4",
    '',
  ]);
});

test('periodStart goes back whole months on average', () => {
  const now = Date.parse('2026-11-03T12:00:00Z');
  expect(periodStart(3, now)).toBe('2026-08-04');
  expect(periodStart(12, now)).toBe('2025-11-03');
  expect(periodStart(36, now)).toBe('2023-11-03');
});
