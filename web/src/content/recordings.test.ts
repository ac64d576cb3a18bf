import { expect, test } from 'vitest';
import { recording } from './recordings';

const files = ['en/antibiotics-guide.mp3', 'so/antibiotics-guide.opus', 'so/pain-management.mp3'];

test.each([
  ['en', 'antibiotics-guide', '/audio/en/antibiotics-guide.mp3'],
  ['so', 'antibiotics-guide', '/audio/so/antibiotics-guide.opus'],
  ['en', 'pain-management', undefined],
  ['so', 'pain', undefined],
] as const)('the recording of %s/%s is %s', (language, slug, address) => {
  expect(recording(language, slug, files)).toBe(address);
});
