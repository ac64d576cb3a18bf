import { expect, test } from 'vitest';
import { regions } from '@/content/regions';
import { hasTypedPlace } from './typed-place';

test('the words of the picker are not typed, in either language', () => {
  for (const region of regions) {
    for (const district of region.districts) {
      const place = { region: region.name, district: district.name };
      expect(hasTypedPlace({ ...place, location: `${district.name}, ${region.name}` })).toBe(false);
      expect(hasTypedPlace({ ...place, location: `${district.somali}, ${region.somali}` })).toBe(false);
    }
  }
});

test.each([
  [null, false],
  ['', false],
  ['sool', false],
  ['Sool, ', false],
  ['Sool, beside the market', true],
  ['Sanaag', true], // another region than that of the report
])('location %j of a report from Sool: typed %s', (location, typed) => {
  expect(hasTypedPlace({ region: 'Sool', district: null, location })).toBe(typed);
});
