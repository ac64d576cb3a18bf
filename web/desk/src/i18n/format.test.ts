import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { languages } from '@/i18n/language';
import { dayRange, digits, shortDay, shortTime, since } from './format';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 10, 3, 14, 5) });
});
afterEach(() => {
  vi.useRealTimers();
});

test('digits groups thousands', () => {
  expect([0, 999, 20_000, 1_234_567].map(digits)).toEqual(['0', '999', '20,000', '1,234,567']);
});

test('shortTime names the year unless it is the current one', () => {
  expect(shortTime('en', '2026-11-03T09:05:00')).toBe('3 Nov, 09:05');
  expect(shortTime('en', '2025-12-31T23:59:00')).toBe('31 Dec 2025, 23:59');
  expect(shortTime('so', '2025-12-31T23:59:00')).toBe('31 Dis 2025, 23:59');
});

test('shortDay takes a date without a time as a local day', () => {
  expect(shortDay('en', '2026-03-01')).toBe('1 Mar 2026');
  expect(shortDay('so', '2026-03-01T00:30:00')).toBe('1 Mar 2026');
});

test.each(languages)('every month has a short name of its own in %s', (language) => {
  const names = Array.from({ length: 12 }, (_, i) =>
    shortDay(language, `2026-${String(i + 1).padStart(2, '0')}-01`),
  );
  expect(new Set(names).size).toBe(12);
});

test('dayRange names a year and a day once', () => {
  expect(dayRange('en', '2026-09-18', '2026-11-25')).toBe('18 Sep – 25 Nov 2026');
  expect(dayRange('en', '2025-12-30', '2026-01-02')).toBe('30 Dec 2025 – 2 Jan 2026');
  expect(dayRange('so', '2026-03-01T08:00:00', '2026-03-01T09:00:00')).toBe('1 Mar 2026');
});

test.each([
  ['2026-11-03T14:04:40', '0 min'],
  ['2026-11-03T14:06:00', '0 min'], // the clock of the server is ahead
  ['2026-11-03T13:06:00', '59 min'],
  ['2026-11-03T13:05:00', '1 h'],
  ['2026-11-01T14:06:00', '48 h'],
  ['2026-11-01T14:05:00', '2 d'],
  ['2026-10-22T14:05:00', '12 d'],
])('since %s: %s', (iso, shown) => {
  expect(since(iso)).toBe(shown);
});
