import { cleanLine, latinDigits } from './clean-text';

const yearFirst = /^[-/.\s]*(?<year>\d{4})[-/.\s]+(?<month>\d{1,2})(?:[-/.\s]+(?<day>\d{1,2}))?[-/.\s]*$/;
const yearLast = /^[-/.\s]*(?:(?<day>\d{1,2})[-/.\s]+)?(?<month>\d{1,2})[-/.\s]+(?<year>\d{4})[-/.\s]*$/;

/**
 * Parses a typed expiry date: year-month-day, day/month/year, or a month and a year, as on most packages, which mean
 * the last day of that month. Returns yyyy-MM-dd, '' for an empty text and null for an invalid date. The backend has
 * the same rules (functions/submit-report/date.go); functions/submit-report/testdata/cases.json keeps them equal.
 */
export function parseExpiryDate(typed: string): string | null {
  const text = latinDigits(cleanLine(typed));
  if (text === '') return '';
  const { year, month, day } = (yearFirst.exec(text) ?? yearLast.exec(text))?.groups ?? {};
  return format(Number(year), Number(month), day === undefined ? undefined : Number(day));
}

/** Returns yyyy-MM-dd, or null for a day that does not exist. Without a day it is the last one of the month. */
function format(year: number, month: number, day = daysIn(year, month)): string | null {
  const valid =
    year >= 1950 && year <= 2100 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  const two = (value: number) => String(value).padStart(2, '0');
  return valid ? `${year}-${two(month)}-${two(day)}` : null;
}

function daysIn(year: number, month: number) {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Returns a day of the local time zone as yyyy-MM-dd. */
export function isoDay(date: Date) {
  return format(date.getFullYear(), date.getMonth() + 1, date.getDate()) ?? '';
}

/** Returns the day yyyy-MM-dd in the local time zone. */
export function dayOf(iso: string): Date | undefined {
  const [year, month, day] = iso.split('-').map(Number);
  return year && month && day ? new Date(year, month - 1, day) : undefined;
}
