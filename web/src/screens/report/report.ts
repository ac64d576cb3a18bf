import limits from '@functions/submit-report/limits.json' with { type: 'json' };
import type { Report } from '@/backend/reports';
import type { Country } from '@/content/countries';
import { cleanLine, cleanText, latinDigits } from './clean-text';

/** The country that is chosen first. All others are loaded late. */
export const somalia: Country = { iso: 'so', code: '252', mask: '.. ... ....' };

/** Names of the form's controls whose values the draft keeps. */
export const fieldNames = [
  'name',
  'country',
  'phone',
  'product_name',
  'where_bought',
  'batch_number',
  'expiry_date',
  'location',
  'issue_description',
] as const;
export type FieldName = (typeof fieldNames)[number];
export type ReportValues = Record<FieldName, string>;

/** The longest texts that the backend accepts, in characters. */
export const maxCharacters = limits.characters;

/** The longest number that may be typed: the backend's limit includes the calling code, such as '+252 '. */
export const maxTypedPhone = maxCharacters.phone - '+0000 '.length;

/**
 * Reports whether a number has fewer digits than usual, such as '0' and '123'. The form asks about it once and then
 * accepts it. The backend does the same with a form post (functions/submit-report/form.go).
 */
export function isDoubtfulPhone(typed: string) {
  return latinDigits(typed).replace(/\D/g, '').length < limits.usualPhoneDigits;
}

export const maxPhotoBytes = limits.photoBytes;

/** Returns the normalised values of the form. */
export function readValues(form: HTMLFormElement): ReportValues {
  const data = new FormData(form);
  const entries = fieldNames.map((name) => [name, cleanValue(name, String(data.get(name) ?? ''))]);
  return Object.fromEntries(entries) as ReportValues;
}

export function cleanValue(name: FieldName, typed: string) {
  return name === 'issue_description' ? cleanText(typed) : cleanLine(typed);
}

export function toReport(values: ReportValues, expiryDate: string | null, photoUrl: string | null): Report {
  const optional = (text: string) => text || null;
  return {
    name: optional(values.name),
    phone: phoneNumber(values.country, values.phone),
    product_name: values.product_name,
    batch_number: optional(values.batch_number),
    expiry_date: expiryDate,
    where_bought: optional(values.where_bought),
    issue_description: values.issue_description,
    location: optional(values.location),
    photo_url: photoUrl,
  };
}

/**
 * Puts a number behind its country's calling code, unless the number begins with a calling code itself (+ or 00). The
 * backend does the same with a form post (phoneNumber in functions/submit-report/form.go).
 */
export function phoneNumber(country: string, typed: string) {
  const number = latinDigits(cleanLine(typed));
  return !country || !number || /^(\+|00)/.test(number) ? number : `+${country} ${number}`;
}
