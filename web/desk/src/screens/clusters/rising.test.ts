import { expect, test } from 'vitest';
import { chanceWord, weekBars } from './rising';

test('the highest week fills the picture, and a week without a report keeps a line', () => {
  expect(weekBars([0, 2, 4], 20)).toEqual([1, 10, 20]);
  expect(weekBars([0, 0], 20)).toEqual([1, 1]);
});

test('a chance is a percentage, and never 0 %', () => {
  expect([0.008, 0.00001].map(chanceWord)).toEqual(['0.8 %', '< 0.1 %']);
});
