import { expect, test } from 'vitest';
import { placeLabel, regions } from './regions';

test('the regions and their order are those of the specification', () => {
  expect(regions.map(({ name }) => name)).toEqual([
    'Banaadir',
    'Awdal',
    'Woqooyi Galbeed',
    'Togdheer',
    'Sanaag',
    'Sool',
    'Bari',
    'Nugaal',
    'Mudug',
    'Galguduud',
    'Hiraan',
    'Shabeellaha Dhexe',
    'Shabeellaha Hoose',
    'Bay',
    'Bakool',
    'Gedo',
    'Jubbada Dhexe',
    'Jubbada Hoose',
  ]);
});

test('the numbers of districts are those of the specification', () => {
  const [banaadir, ...others] = regions.map(({ districts }) => districts);
  expect(banaadir).toHaveLength(17);
  for (const districts of others) {
    expect(districts.length).toBeGreaterThanOrEqual(3);
    expect(districts.length).toBeLessThanOrEqual(7);
  }
  for (const { name, districts } of regions) {
    expect(new Set(districts.map((district) => district.name)).size, name).toBe(districts.length);
  }
});

test('some district names are in two regions', () => {
  const names = regions.flatMap(({ districts }) => districts.map(({ name }) => name));
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  expect(twice.size).toBeGreaterThan(0);
  expect(twice.size).toBeLessThan(6);
});

test('names have only letters, spaces, hyphens and apostrophes', () => {
  expect(placeLabel({ name: 'Abdiaziz', somali: 'Cabdicasiis' })).toBe('Abdiaziz (Cabdicasiis)');
  for (const place of regions.flatMap((region) => [region, ...region.districts])) {
    expect(place.name).toMatch(/^[A-Za-z' -]+$/);
    expect(place.somali).toMatch(/^[A-Za-z' -]+$/);
  }
});
