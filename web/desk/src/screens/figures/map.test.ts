import { expect, test } from 'vitest';
import { middle, pathOf, shade, shortNumber } from './map';
import { outlines } from './region-outlines';

test('every outline is within the map', () => {
  for (const [name, points] of Object.entries(outlines)) {
    for (const pair of pathOf(points).split(' ')) {
      const [x = -1, y = -1] = pair.split(',').map(Number);
      expect(x >= 0 && x <= 440 && y >= 0 && y <= 560, `${name}: ${pair}`).toBe(true);
    }
  }
});

test('the north is at the top and the east at the right', () => {
  expect(pathOf([[41.8, 11.1]])).toBe('41.0,40.0');
  expect(pathOf([[42.8, 10.1]])).toBe('82.0,80.0');
});

test('middle is the mean of the corners', () => {
  const [x, y] = middle([
    [41.8, 11.1],
    [43.8, 11.1],
    [43.8, 9.1],
    [41.8, 9.1],
  ]);
  expect(x).toBeCloseTo(82);
  expect(y).toBeCloseTo(80);
});

test('the more reports, the darker the region', () => {
  expect([0, 1, 10].map((n) => shade(n, 10))).toEqual([0.08, 0.28, 1]);
  expect(shade(5, 10)).toBeCloseTo(0.6);
});

test.each([
  [7, '7'],
  [999, '999'],
  [1000, '1k'],
  [1249, '1.2k'],
  [20_000, '20k'],
])('%d: %s', (n, shown) => {
  expect(shortNumber(n)).toBe(shown);
});
