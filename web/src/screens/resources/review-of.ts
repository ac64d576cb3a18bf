import type { Resource } from '@/backend/resources';
import { monthName } from '@/i18n/dates';
import type { Language } from '@/i18n/language';

type Review = Pick<NonNullable<Resource['guides']>, 'reviewed_by' | 'reviewed_role' | 'reviewed_on'>;

/** Returns who reviewed a guide, and when, or that it is not reviewed. */
export function reviewOf(
  { reviewed_by, reviewed_role, reviewed_on }: Review,
  text: { reviewed: string; notReviewed: string },
  language: Language,
) {
  if (!reviewed_on) return text.notReviewed;
  const date = new Date(`${reviewed_on}T00:00`);
  const day = `${date.getDate()} ${monthName(language, date)} ${date.getFullYear()}`;
  return text.reviewed.replace('{name}', `${reviewed_by}, ${reviewed_role}`).replace('{day}', day);
}
