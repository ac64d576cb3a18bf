import { expect, test } from 'vitest';
import { placeName } from './place-name';

test('placeName names the known parts', () => {
  expect(placeName({ region: 'Sool', district: 'Laascaanood' })).toBe('Laascaanood, Sool');
  expect(placeName({ region: 'Sool', district: null })).toBe('Sool');
  expect(placeName({ region: null, district: null })).toBe('');
});
