import { expect, test } from 'vitest';
import { bucketName, publicAddress, refusal } from './resource-file';

test('a name is found again from its address', () => {
  for (const name of ['leaflet-0a1b2c3d.pdf', '50 % off?.pdf', 'daawo/ö.pdf']) {
    expect(publicAddress(name)).not.toMatch(/[ ?]/);
    expect(bucketName(publicAddress(name))).toBe(name);
  }
});

test.each(['#', 'https://example.org/leaflet.pdf', '/storage/v1/object/public/report-photos/a.jpg'])(
  '%s is no file of the bucket',
  (address) => {
    expect(bucketName(address)).toBeNull();
  },
);

test.each([
  ['application/pdf', 20 * 1024 * 1024, undefined],
  ['application/pdf', 20 * 1024 * 1024 + 1, 'tooLarge'],
  ['text/html', 1, 'wrongType'],
  ['', 1, 'wrongType'],
])('%j of %d bytes', (type, size, reason) => {
  expect(refusal({ type, size })).toBe(reason);
});
