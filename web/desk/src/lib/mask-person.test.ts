import { expect, test } from 'vitest';
import { maskPerson } from './mask-person';

test.each([
  ['I am Amina Cali, call +252 61 234 5678', ['amina cali', '061 2345678', null], 'I am ▒▒▒ ▒▒▒, call ▒▒▒'],
  ['write to a.b@example.org or 0612345678', [null], 'write to ▒▒▒ or ▒▒▒'],
  ['batch B-1234, 50 mg, 2 weeks', [null], 'batch B-1234, 50 mg, 2 weeks'],
  ['a (b', ['(b.*'], 'a (b'],
])('%s', (text, known, masked) => {
  expect(maskPerson(text, known)).toBe(masked);
});
