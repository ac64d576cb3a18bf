import { expect, test } from 'vitest';
import { rowHeight, rowsInView, stepsOf, topThatShows } from './rows-in-view';

const height = 10 * rowHeight;

test.each([
  [0, 20_000, { first: 0, last: 18 }],
  [100 * rowHeight, 20_000, { first: 92, last: 118 }],
  [100 * rowHeight + 1, 20_000, { first: 92, last: 119 }],
  [0, 3, { first: 0, last: 3 }],
  [19_990 * rowHeight, 20_000, { first: 19_982, last: 20_000 }],
])('%d pixels above, %d rows: %j', (top, rows, drawn) => {
  expect(rowsInView({ top, height }, rows)).toEqual(drawn);
});

test.each([
  [20, 20], // the first in view
  [29, 20], // the last in view
  [19, 19],
  [30, 21],
  [0, 0],
])('row %d is shown with row %d at the top', (index, first) => {
  expect(topThatShows(index, { top: 20 * rowHeight, height })).toBe(first * rowHeight);
});

test.each([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
  ['PageDown', 10],
  ['PageUp', -10],
  ['Home', Number.NEGATIVE_INFINITY],
  ['End', Number.POSITIVE_INFINITY],
  ['x', undefined],
])('%s moves the choice by %d', (key, steps) => {
  expect(stepsOf(key, { top: 0, height: height + rowHeight / 2 })).toBe(steps);
});
