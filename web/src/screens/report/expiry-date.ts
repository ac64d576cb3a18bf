import { latinDigits } from './latin-digits';

/**
 * Reads a typed expiry date: year-month-day, day/month/year, or, as most packages print it, a month and a
 * year, which means until the last day of that month. Answers yyyy-MM-dd, '' for nothing, null for nonsense.
 */
export function parseExpiryDate(typed: string): string | null {
  const text = latinDigits(typed).trim();
  if (text === '') return '';
  const parts = text.split(/[-/.\s]+/);
  if (!parts.every((part) => /^\d{1,4}$/.test(part))) return null;
  const numbers = parts.map(Number);
  const yearFirst = parts[0]?.length === 4;

  if (parts.length === 2) {
    const [year = 0, month = 0] = yearFirst ? numbers : [...numbers].reverse();
    return format(year, month, daysIn(year, month));
  }
  if (parts.length === 3) {
    const [year = 0, month = 0, day = 0] = yearFirst ? numbers : [...numbers].reverse();
    return format(year, month, day);
  }
  return null;
}

function format(year: number, month: number, day: number): string | null {
  if (year < 1950 || year > 2100 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month))
    return null;
  const two = (value: number) => String(value).padStart(2, '0');
  return `${year}-${two(month)}-${two(day)}`;
}

function daysIn(year: number, month: number) {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** A local day as yyyy-MM-dd. */
export function isoDay(date: Date) {
  return format(date.getFullYear(), date.getMonth() + 1, date.getDate()) ?? '';
}

/** The local day that yyyy-MM-dd names. */
export function dayOf(iso: string): Date | undefined {
  const [year, month, day] = iso.split('-').map(Number);
  return year && month && day ? new Date(year, month - 1, day) : undefined;
}
