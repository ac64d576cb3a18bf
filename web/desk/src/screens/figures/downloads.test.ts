import { expect, test } from 'vitest';
import { downloadsByMonth } from './downloads';

test('the table has the last six months, and a zero where a resource has no download', () => {
  const months = ['03', '04', '05', '06', '07', '08', '09'].map((month) => `2026-${month}-01`);
  const leaflet = months.map((month, i): [string, string, number] => [month, 'Leaflet', i]);
  const { months: heads, rows } = downloadsByMonth([...leaflet.reverse(), ['2026-09-01', 'Poster', 9]]);
  expect(heads).toEqual(months.slice(1));
  expect(rows).toEqual([
    ['Leaflet', [1, 2, 3, 4, 5, 6]],
    ['Poster', [0, 0, 0, 0, 0, 9]],
  ]);
});

test('without downloads there is no row', () => {
  expect(downloadsByMonth([])).toEqual({ months: [], rows: [] });
});
