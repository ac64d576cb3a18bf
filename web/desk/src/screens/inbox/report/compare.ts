import type { Report } from '@desk/backend/reports';
import type { Text } from '@desk/i18n/en';
import { shortTime } from '@desk/i18n/format';
import type { Language } from '@/i18n/language';

/**
 * Returns the lines of a comparison: a name, the values of both reports, and whether they have the
 * same value.
 */
export function compare(one: Report, other: Report, language: Language, text: Text) {
  const lines: [name: string, get: (report: Report) => string | null][] = [
    [text.forward.reference, (r) => r.reference],
    [text.report.received, (r) => shortTime(language, r.created_at)],
    [text.report.product, (r) => r.product_name],
    [text.report.batch, (r) => r.batch_number],
    [text.report.bought, (r) => r.where_bought],
    [text.report.place, (r) => r.location],
    [text.report.phone, (r) => r.phone],
    [text.report.what, (r) => r.issue_description],
  ];
  return lines.map(([name, get]) => {
    const values = [get(one), get(other)] as const;
    return { name, values, same: Boolean(values[0]) && values[0] === values[1] };
  });
}
