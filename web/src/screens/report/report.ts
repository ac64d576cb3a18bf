/** The body of submit-report: exactly the nine fields of a report. */
export interface Report {
  name: string | null;
  phone: string | null;
  product_name: string;
  batch_number: string | null;
  /** yyyy-MM-dd */
  expiry_date: string | null;
  where_bought: string | null;
  issue_description: string;
  /** The region's name alone, or 'region, district'. */
  location: string | null;
  /** The stored file's name. */
  photo_url: string | null;
}

/** What the form holds while it is being filled, by the names of its controls. */
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

/** The longest text the backend accepts, in characters. */
export const limits = {
  name: 200,
  phone: 40,
  product_name: 200,
  batch_number: 100,
  where_bought: 500,
  issue_description: 5000,
} as const;

export function readValues(form: HTMLFormElement): ReportValues {
  const data = new FormData(form);
  const entries = fieldNames.map((name) => [name, String(data.get(name) ?? '').trim()]);
  return Object.fromEntries(entries) as ReportValues;
}

export function toReport(values: ReportValues, expiryDate: string | null, photoUrl: string | null): Report {
  const optional = (text: string) => text || null;
  return {
    name: optional(values.name),
    phone: /^(\+|00)/.test(values.phone) ? values.phone : `+${values.country} ${values.phone}`,
    product_name: values.product_name,
    batch_number: optional(values.batch_number),
    expiry_date: expiryDate,
    where_bought: optional(values.where_bought),
    issue_description: values.issue_description,
    location: optional(values.location),
    photo_url: photoUrl,
  };
}
