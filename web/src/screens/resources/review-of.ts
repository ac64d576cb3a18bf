import type { Resource } from '@/backend/resources';
import { longDate } from '@/i18n/dates';
import type { Language } from '@/i18n/language';

type Review = Pick<NonNullable<Resource['guides']>, 'reviewed_by' | 'reviewed_role' | 'reviewed_on'>;

/** Returns who reviewed a guide, and when, or that it is not reviewed. */
export function reviewOf(
  { reviewed_by, reviewed_role, reviewed_on }: Review,
  text: { reviewed: string; notReviewed: string },
  language: Language,
) {
  if (!reviewed_on) return text.notReviewed;
  const day = longDate(language, new Date(`${reviewed_on}T00:00`));
  return text.reviewed.replace('{name}', `${reviewed_by}, ${reviewed_role}`).replace('{day}', day);
}
