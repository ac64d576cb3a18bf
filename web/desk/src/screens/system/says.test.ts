import { en } from '@desk/i18n/en';
import { so } from '@desk/i18n/so';
import { expect, test } from 'vitest';
import { partsOf, wordOf } from './says';

const low = {
  Verdict: 'warn',
  What: 'disk',
  Says: '0.8 GiB are free for /data: free some space soon',
  Code: 'disk.low',
  Args: ['0.8', '/data'],
};
const sentence = (finding: typeof low, text = so) =>
  partsOf(finding, text.checks.says)
    .map((part) => part.text)
    .join('');

test('a known finding is said in the language of the desk, with the values of the server', () => {
  expect(sentence(low, en)).toBe(low.Says);
  expect(sentence(low)).toBe('0.8 GiB ayaa u bannaan /data: dhowaan meel bannee');
  expect(partsOf(low, so.checks.says).map(({ english }) => english)).toEqual([true, false, true, false]);
});

test('an unknown finding is said as the server says it, marked as English', () => {
  for (const finding of [
    { ...low, Code: 'disk.moved' },
    { ...low, Code: 'toString' },
    { ...low, Args: ['0.8'] },
  ]) {
    expect(partsOf(finding, so.checks.says)).toEqual([{ text: low.Says, english: true }]);
  }
});

test('a name that the desk does not know stays', () => {
  expect(wordOf('keys', so.checks.names)).toBe('furayaal');
  expect(wordOf('printer', so.checks.names)).toBe('printer');
});
