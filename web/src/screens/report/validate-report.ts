import { parseExpiryDate } from './expiry-date';
import type { FieldName, ReportValues } from './report';

/** The fields that can be wrong, in the order of the form. */
const checkedFields = [
  'phone',
  'product_name',
  'expiry_date',
  'location',
  'issue_description',
] as const satisfies readonly FieldName[];
export type CheckedField = (typeof checkedFields)[number];

/** The fields that stop the report from being sent. */
export function validateReport(values: ReportValues): CheckedField[] {
  return checkedFields.filter((field) =>
    field === 'expiry_date' ? parseExpiryDate(values.expiry_date) === null : !values[field],
  );
}
