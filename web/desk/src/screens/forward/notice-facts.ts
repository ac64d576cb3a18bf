import type { Report } from '@desk/backend/reports';
import type { Text } from '@desk/i18n/en';
import { shortDay } from '@desk/i18n/format';
import { placeName } from '@desk/lib/place-name';
import type { Language } from '@/i18n/language';

/**
 * Returns the facts that an authority gets about a report, without those of a person and without
 * missing ones.
 */
export function noticeFacts(report: Report, language: Language, text: Text): [name: string, value: string][] {
  const facts: [string, string | null][] = [
    [text.forward.reference, report.reference],
    [text.forward.received, shortDay(language, report.created_at)],
    [text.report.product, report.product_name],
    [text.report.batch, report.batch_number],
    [text.report.expiry, report.expiry_date && shortDay(language, report.expiry_date)],
    [text.report.place, placeName(report)],
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}
