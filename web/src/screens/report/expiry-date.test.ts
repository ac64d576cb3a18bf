import { expect, test } from 'vitest';
import { dayOf, isoDay } from './expiry-date';

test('converts a day to text and back in the local time zone', () => {
  const day = dayOf('2026-03-01');
  expect(day?.getDate()).toBe(1);
  expect(day && isoDay(day)).toBe('2026-03-01');
  expect(dayOf('')).toBeUndefined();
});
