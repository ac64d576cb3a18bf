import { type Status, type StatusCounts, statuses } from '@desk/lib/status';

/**
 * Returns the number of reports with one of some statuses, or undefined while the numbers are not
 * known.
 */
export function countOf(counts: StatusCounts | undefined, wanted: readonly Status[] = statuses) {
  return counts && wanted.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
}

/** Returns the title of the window: the number of new reports, and no word of them. */
export function inboxTitle(counts: StatusCounts | undefined, name: string) {
  const n = counts?.new ?? 0;
  return `${n > 0 ? `(${n}) ` : ''}${name} · Daawo`;
}
