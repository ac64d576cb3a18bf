import { expect, test } from 'vitest';
import { recording } from './recordings';

const files = ['en/antibiotics-guide.mp3', 'so/antibiotics-guide.opus', 'en/pain-management-old.mp3'];

test.each([
  ['en', 'antibiotics-guide', '/audio/en/antibiotics-guide.mp3'],
  ['so', 'antibiotics-guide', '/audio/so/antibiotics-guide.opus'],
  ['en', 'pain-management', undefined],
  ['so', 'expired-medicines', undefined],
] as const)('%s %s is read aloud in %j', (language, slug, address) => {
  expect(recording(language, slug, files)).toBe(address);
});
