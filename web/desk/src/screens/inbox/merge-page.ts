import type { Row } from '@desk/backend/reports';

/**
 * Puts a fresh first page before the older rows that were loaded already. A page that is not full
 * has all reports. Rows are in the order of their time and id, the newest first.
 */
export function mergePage(old: readonly Row[], page: readonly Row[], size: number) {
  const last = page.at(-1);
  if (page.length < size || !last) return { rows: [...page], done: true };
  const known = new Set(page.map((row) => row.id));
  const older = old.filter(
    (row) =>
      !known.has(row.id) &&
      (row.created_at < last.created_at || (row.created_at === last.created_at && row.id < last.id)),
  );
  return { rows: [...page, ...older], done: false };
}
