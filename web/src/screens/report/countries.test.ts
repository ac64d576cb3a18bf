import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { en } from '@/i18n/en';
import { countries, formatPhone, splitInternational } from './countries';

describe('formatPhone', () => {
  test.each([
    ['612345678', '.. ... ....', '61 234 5678'],
    ['61', '.. ... ....', '61'],
    ['0612345678', '.. ... ....', '61 234 5678'],
    ['61 23-45/678', '.. ... ....', '61 234 5678'],
    ['6123456789', '.. ... ....', '61 234 56789'],
    ['4165550123', '(...) ...-....', '(416) 555-0123'],
    ['(061) 234 5678', '.. ... ....', '61 234 5678'],
    ['0', '.. ...', ''],
    ['', '.. ...', ''],
  ])('%j with the mask %j: %j', (typed, mask, formatted) => {
    expect(formatPhone(typed, { mask })).toBe(formatted);
  });

  test('keeps the leading zero of an Italian number', () => {
    const { country, rest } = splitInternational('+39 06 1234567') ?? {};
    expect(country && formatPhone(rest ?? '', country)).toBe('061 234567');
    expect(country && formatPhone('347 1234567', country)).toBe('347 1234567');
  });

  test('is idempotent', () => {
    for (const country of countries) {
      const once = formatPhone('712345678', country);
      expect(formatPhone(once, country)).toBe(once);
    }
  });
});

describe('splitInternational', () => {
  test.each([
    ['+252 61 234 5678', '252', '612345678'],
    ['00254 712345678', '254', '712345678'],
    ['+1 (416) 555-0123', '1', '4165550123'],
  ])('%j: +%s', (typed, code, rest) => {
    expect(splitInternational(typed)).toMatchObject({ country: { code }, rest });
  });

  test.each(['612345678', '+999 123', '', 'abc'])('%j has no calling code', (typed) => {
    expect(splitInternational(typed)).toBeUndefined();
  });
});

test('Somalia is first, and every country has a flag and a name', () => {
  expect(countries[0]?.iso).toBe('so');
  for (const { iso } of countries) expect(existsSync(`public/flags/${iso}.svg`), iso).toBe(true);
  expect(countries.map(({ iso }) => iso).sort()).toEqual(Object.keys(en.report.countries).sort());
  expect(new Set(countries.map(({ code }) => code)).size).toBe(countries.length);
});
