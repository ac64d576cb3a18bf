import { expect, test } from 'vitest';
import type { Resource } from '@/backend/resources';
import { choicesOf, filterResources, noFilter } from './filter-resources';

const row = (id: string, file_url: string, category: string, category_so: string | null, file_type: string) =>
  ({ id, file_url, category, category_so, file_type }) as Resource;
const rows = [
  row('1', '/files/pain.so.pdf', 'Medicine', 'Daawo', 'application/pdf'),
  row('2', '/files/pain.en.pdf', 'Medicine', 'Daawo', 'application/pdf'),
  row('3', '/files/poster.png', 'Posters', null, 'image/png'),
  row('4', '#', 'Safety', 'Badbaado', 'application/pdf'),
];

test.each([
  [{}, '1234'],
  [{ topic: 'Medicine' }, '12'],
  [{ language: 'en' }, '2'],
  [{ type: 'PNG' }, '3'],
  [{ topic: 'Safety', type: 'PDF' }, '4'],
  [{ topic: 'Safety', language: 'so' }, ''],
])('narrows the list to %j', (filter, ids) => {
  const found = filterResources(rows, { ...noFilter, ...filter });
  expect(found.map(({ id }) => id).join('')).toBe(ids);
});

test('offers what the list has, in its order, in the words of the page', () => {
  expect(choicesOf('topic', rows, 'so')).toEqual([
    { value: 'Medicine', name: 'Daawo' },
    { value: 'Posters', name: 'Posters', lang: 'en' },
    { value: 'Safety', name: 'Badbaado' },
  ]);
  expect(choicesOf('language', rows, 'en').map(({ name }) => name)).toEqual(['Soomaali', 'English']);
  expect(choicesOf('type', rows, 'en').map(({ value }) => value)).toEqual(['PDF', 'PNG']);
});
