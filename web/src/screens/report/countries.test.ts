import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { countries, countryName, countryOptions, hasFlag } from '@/content/countries';
import { languages } from '@/i18n/language';
import { formatPhone, somalia, splitInternational } from './countries';

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
    const { country, rest } = splitInternational('+39 06 1234567', countries) ?? {};
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
    ['+1 246 555 0123', '1246', '5550123'],
    ['+32 470 12 34 56', '32', '470123456'],
  ])('%j: +%s', (typed, code, rest) => {
    expect(splitInternational(typed, countries)).toMatchObject({ country: { code }, rest });
  });

  test.each(['612345678', '+999 123', '', 'abc'])('%j has no calling code', (typed) => {
    expect(splitInternational(typed, countries)).toBeUndefined();
  });
});

test('Somalia is first, and the first countries have a flag', () => {
  expect(countries[0]).toEqual(somalia);
  const flagged = countries.filter(hasFlag);
  expect(flagged).toHaveLength(24);
  for (const { iso } of flagged) expect(existsSync(`public/flags/${iso}.svg`), iso).toBe(true);
});

test('every country is listed once, with a name in both languages', () => {
  expect(countries.length).toBeGreaterThan(215);
  expect(new Set(countries.map(({ iso }) => iso)).size).toBe(countries.length);
  for (const language of languages) {
    for (const country of countries)
      expect(countryName(language, country), country.iso).not.toBe(country.iso);
    expect(countryOptions(language).match(/<option/g)).toHaveLength(countries.length);
    expect(countryOptions(language)).not.toMatch(/&(?!amp;)/); // no character that needs escaping
  }
  expect(countryName('so', { iso: 'be', code: '32', mask: '' })).toBe('Biljam');
});
