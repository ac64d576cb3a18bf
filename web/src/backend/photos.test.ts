import { expect, test } from 'vitest';
import { photoName } from './photos';

test.each([
  ['IMG_1.JPG', '1700000000000.jpg'],
  ['photo.of.cream.webp', '1700000000000.webp'],
  ['noextension', '1700000000000'],
  ['weird.extension', '1700000000000'],
  ['../../a.png', '1700000000000.png'],
])('%j is stored as %j', (original, name) => {
  expect(photoName(original, 1_700_000_000_000)).toBe(name);
  expect(name).toMatch(/^\d{13}(\.[A-Za-z0-9]{1,5})?$/);
});
