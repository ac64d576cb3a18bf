import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dayBefore, endOfDay, startOfDay } from './local-day';

describe.each([
  ['Africa/Mogadishu', '2026-11-03', '2026-11-03T00:00:00+03:00', '2026-11-04T00:00:00+03:00'],
  ['Asia/Kolkata', '2026-12-31', '2026-12-31T00:00:00+05:30', '2027-01-01T00:00:00+05:30'],
  // The day on which the clocks go back has 25 hours.
  ['America/Toronto', '2026-11-01', '2026-11-01T00:00:00-04:00', '2026-11-02T00:00:00-05:00'],
])('a day of %s', (zone, day, start, end) => {
  const before = process.env.TZ;
  beforeEach(() => {
    process.env.TZ = zone;
  });
  afterEach(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });

  test('begins and ends at midnight', () => {
    expect(startOfDay(day)).toBe(start);
    expect(endOfDay(day)).toBe(end);
  });

  test('is found again from its end', () => {
    expect(dayBefore(endOfDay(day))).toBe(day);
  });
});

test.each(['Africa/Mogadishu', 'America/Toronto'])(
  'a year of one digit, as it is typed, stays in %s',
  (zone) => {
    vi.stubEnv('TZ', zone);
    for (const day of ['0002-11-03', '0020-11-03']) {
      expect(startOfDay(day)?.slice(0, 10)).toBe(day);
      expect(Date.parse(startOfDay(day) ?? '')).not.toBeNaN();
      expect(dayBefore(endOfDay(day))).toBe(day);
    }
    vi.unstubAllEnvs();
  },
);

test('an empty field is no day', () => {
  expect([startOfDay(''), endOfDay(''), dayBefore(undefined)]).toEqual([undefined, undefined, '']);
});
