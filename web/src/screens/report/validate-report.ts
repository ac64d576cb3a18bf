import { parseExpiryDate } from './expiry-date';
import { type FieldName, maxCharacters, type ReportValues } from './report';

/** The fields that can be invalid, in the order of the form. */
const checkedFields = [
  'phone',
  'product_name',
  'expiry_date',
  'location',
  'issue_description',
] as const satisfies readonly FieldName[];
export type CheckedField = (typeof checkedFields)[number];

/** Returns the invalid fields, in the order of the form. The report cannot be sent while there are any. */
export function validateReport(values: ReportValues): CheckedField[] {
  return checkedFields.filter((field) =>
    field === 'expiry_date'
      ? parseExpiryDate(values.expiry_date) === null
      : !values[field] || (field === 'issue_description' && isTooLong(values)),
  );
}

/**
 * Reports whether the description is longer than the backend accepts. The text field has no limit itself: the browser
 * would cut a pasted text without a word.
 */
export function isTooLong({ issue_description }: ReportValues) {
  return [...issue_description].length > maxCharacters.issue_description;
}
