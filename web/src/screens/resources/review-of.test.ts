import { expect, test } from 'vitest';
import { text as en } from '@/i18n/en/resources';
import { text as so } from '@/i18n/so/resources';
import { reviewOf } from './review-of';

const review = { reviewed_by: 'Hodan Warsame', reviewed_role: 'Pharmacist', reviewed_on: '2026-11-27' };

test('a review names the person, the profession and the day', () => {
  expect(reviewOf(review, en, 'en')).toBe('Reviewed by Hodan Warsame, Pharmacist, on 27 November 2026');
  expect(reviewOf(review, so, 'so')).toContain('Hodan Warsame, Pharmacist');
  expect(reviewOf({ ...review, reviewed_on: null }, en, 'en')).toBe(en.notReviewed);
});
