import { expect, test } from 'vitest';
import { reviewState, yearAfter } from './review-state';

test('a review is due on its day', () => {
  const states = ['2026-11-26', '2026-11-27'].map((today) =>
    reviewState({ reviewed_on: '2025-11-27', review_due: '2026-11-27' }, today),
  );
  expect(states).toEqual(['reviewed', 'due']);
  expect(reviewState({ reviewed_on: null, review_due: null }, '2026-11-27')).toBe('none');
});

test('the next review is a year later, on a day that exists', () => {
  expect(['2026-11-27', '2028-02-29'].map(yearAfter)).toEqual(['2027-11-27', '2029-02-28']);
});
