import type { Row } from '@desk/backend/reports';
import { expect, test } from 'vitest';
import { chosenIndex, rowAt } from './chosen-report';

const rows = ['DW-2B3C', 'DW-4D5E', 'DW-6F7G'].map((reference) => ({ reference }) as Row);

test.each([
  ['#/reports/DW-4D5E', 1],
  ['#/reports/DW-4D5E?x=1', 1],
  ['#/reports/DW-4D5E/forward', 1],
  ['#/reports/DW-9H9H', -1],
  ['#/reports', -1],
  ['#/resources/DW-4D5E', -1],
  ['', -1],
])('%j chooses row %d', (fragment, index) => {
  expect(chosenIndex(rows, fragment)).toBe(index);
});

test.each([
  [0, 1, 'DW-4D5E'],
  [1, -1, 'DW-2B3C'],
  [2, 1, 'DW-6F7G'],
  [0, -1, 'DW-2B3C'],
  [-1, 1, 'DW-2B3C'], // no report is chosen
  [-1, -1, 'DW-2B3C'],
  [1, Number.POSITIVE_INFINITY, 'DW-6F7G'],
  [1, Number.NEGATIVE_INFINITY, 'DW-2B3C'],
])('from row %d by %d', (chosen, steps, reference) => {
  expect(rowAt(rows, chosen, steps)?.reference).toBe(reference);
});

test('an empty list has no row', () => {
  expect(rowAt([], -1, 1)).toBeUndefined();
});
