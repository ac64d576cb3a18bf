import { describe, expect, test } from 'vitest';
import { dayOf, isoDay, parseExpiryDate } from './expiry-date';

describe('parseExpiryDate', () => {
  test.each([
    ['2026-08-31', '2026-08-31'],
    ['2026-8-1', '2026-08-01'],
    ['31/08/2026', '2026-08-31'],
    ['1.2.2026', '2026-02-01'],
    ['08/2026', '2026-08-31'],
    ['2026-02', '2026-02-28'],
    ['02 2028', '2028-02-29'],
    ['  2026-08-31 ', '2026-08-31'],
    ['٠٨/٢٠٢٦', '2026-08-31'],
    ['۰۸/۲۰۲۶', '2026-08-31'],
    ['', ''],
    ['   ', ''],
  ])('%j is %j', (typed, iso) => {
    expect(parseExpiryDate(typed)).toBe(iso);
  });

  test.each([
    '2026',
    '2026-13-01',
    '2026-02-30',
    '31/04/2026',
    '00/2026',
    'soon',
    '2026-08-31-1',
    '08/26',
    '12026-01-01',
  ])('%j is no date', (typed) => {
    expect(parseExpiryDate(typed)).toBeNull();
  });
});

test('a day goes to text and back in the local time zone', () => {
  const day = dayOf('2026-03-01');
  expect(day?.getDate()).toBe(1);
  expect(day && isoDay(day)).toBe('2026-03-01');
  expect(dayOf('')).toBeUndefined();
});
