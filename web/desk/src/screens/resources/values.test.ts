import type { Resource } from '@desk/backend/resources';
import { expect, test } from 'vitest';
import { cleanValues, hasFile, isComplete, textsIn, valuesOf } from './values';

const added = valuesOf(undefined);
const resource: Resource = {
  ...added,
  id: 'r1',
  title: 'Leaflet',
  category: 'Safety',
  download_count: 7,
  version: 1,
  created_at: '2026-11-03T09:05:00Z',
  updated_at: '2026-11-03T09:05:00Z',
};

test('a new resource is hidden and has no file', () => {
  expect(added).toMatchObject({ is_active: false, is_featured: false });
  expect(hasFile(added)).toBe(false);
  expect(isComplete(added)).toBe(false);
});

test('the values of a resource are those that an editor gives', () => {
  const row = { ...resource, added_later: 1 };
  expect(valuesOf(row)).toEqual({ ...added, title: 'Leaflet', category: 'Safety' });
});

test.each([
  ['Leaflet', 'Safety', true],
  [' ', 'Safety', false],
  ['Leaflet', '', false],
])('title %j and category %j are complete: %s', (title, category, complete) => {
  expect(isComplete({ ...added, title, category })).toBe(complete);
});

test('cleanValues trims, and makes empty translations null', () => {
  const values = { ...added, title: ' Leaflet ', description: ' x ', category: 'Safety ' };
  expect(cleanValues({ ...values, title_so: ' Warqad ', description_so: '  ', category_so: '' })).toEqual({
    ...added,
    title: 'Leaflet',
    description: 'x',
    category: 'Safety',
    title_so: 'Warqad',
    description_so: null,
    category_so: null,
  });
});

test('a missing translation is read in English', () => {
  const values = { ...added, title: 'Leaflet', title_so: 'Warqad', category: 'Safety', category_so: ' ' };
  expect(textsIn('so', values)).toEqual({ title: 'Warqad', description: '', category: 'Safety' });
  expect(textsIn('en', values)).toEqual({ title: 'Leaflet', description: '', category: 'Safety' });
});
