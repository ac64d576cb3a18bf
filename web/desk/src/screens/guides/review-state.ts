import type { Guide } from '@desk/backend/guides';

/** Returns the state of a guide's review on a day, such as '2026-11-27'. */
export function reviewState(
  { reviewed_on, review_due }: Pick<Guide, 'reviewed_on' | 'review_due'>,
  today: string,
): 'none' | 'due' | 'reviewed' {
  if (!reviewed_on) return 'none';
  return review_due && review_due <= today ? 'due' : 'reviewed';
}

/** Returns the day a year after a day: the usual time of the next review. */
export const yearAfter = (day: string) =>
  `${Number(day.slice(0, 4)) + 1}${day.slice(4).replace('-02-29', '-02-28')}`;
