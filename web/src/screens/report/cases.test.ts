import cases from '@functions/submit-report/testdata/cases.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { photoName } from '@/backend/photos';
import { cleanLine, cleanText } from './clean-text';
import { parseExpiryDate } from './expiry-date';
import { cleanValue, fieldNames, isDoubtfulPhone, phoneNumber, type ReportValues } from './report';
import { validateReport } from './validate-report';

/* The tests of submit-report read the same file (functions/submit-report/cases_test.go). */
describe('cases shared with the backend', () => {
  test.each(cases.dates)('date $typed', ({ typed, want }) => {
    expect(parseExpiryDate(typed)).toBe(want);
  });

  test.each(cases.lines)('line $typed', ({ typed, want }) => {
    expect(cleanLine(typed)).toBe(want);
  });

  test.each(cases.texts)('text $typed', ({ typed, want }) => {
    expect(cleanText(typed)).toBe(want);
  });

  test.each(cases.phones)('phone $country $typed', ({ country, typed, want }) => {
    expect(phoneNumber(country, typed)).toBe(want);
  });

  test.each(cases.doubtfulPhones)('doubtful phone $typed', ({ typed, want }) => {
    expect(isDoubtfulPhone(typed)).toBe(want);
  });

  test.each(cases.photoNames)('photo name of $original', ({ original, want }) => {
    expect(photoName(original, 1_700_000_000_000)).toBe(want);
  });

  test.each(cases.forms)('form with the invalid fields $wrong', ({ values, wrong }) => {
    const typed: Partial<ReportValues> = values;
    const cleaned = fieldNames.map((name) => [name, cleanValue(name, typed[name] ?? '')]);
    expect(validateReport(Object.fromEntries(cleaned) as ReportValues).sort()).toEqual(wrong);
  });
});
