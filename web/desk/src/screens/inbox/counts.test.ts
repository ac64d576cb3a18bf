import { expect, test } from 'vitest';
import { countOf, inboxTitle } from './counts';

const counts = { new: 3, closed: 20 };

test('countOf adds the statuses, and all of them without a choice', () => {
  expect(countOf(counts, ['new'])).toBe(3);
  expect(countOf(counts, ['reviewing'])).toBe(0);
  expect(countOf(counts, ['new', 'closed'])).toBe(23);
  expect(countOf(counts)).toBe(23);
  expect(countOf(undefined, ['new'])).toBeUndefined();
});

test('the title names the number of new reports, unless there are none', () => {
  expect(inboxTitle(counts, 'Reports')).toBe('(3) Reports · Daawo');
  expect(inboxTitle({ closed: 20 }, 'Warbixinno')).toBe('Warbixinno · Daawo');
  expect(inboxTitle(undefined, 'Reports')).toBe('Reports · Daawo');
});
