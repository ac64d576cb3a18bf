import type { Filter, Row } from '@desk/backend/reports';

export interface Shown {
  rows: Row[];
  arrived: number; // rows of the filter that wait for their place
  done: boolean; // there are no rows after the last
}

type Order = Filter['order'];

/** Reports whether a row is after another in an order. The default is the newest first. */
function isAfter(row: Row, other: Row, order: Order) {
  const later =
    row.created_at > other.created_at || (row.created_at === other.created_at && row.id > other.id);
  return row.id !== other.id && later === (order === 'oldest');
}

/** Returns the shown rows that a page should have, and has not: their filter matches no more. */
export function goneRows(shown: readonly Row[], page: readonly Row[], size: number, order: Order) {
  const known = new Set(page.map((row) => row.id));
  const end = page.length < size ? undefined : page.at(-1);
  return shown.filter((row) => !known.has(row.id) && !(end && isAfter(row, end, order)));
}

/**
 * Brings shown rows up to date without moving one: rows that match the filter no more stay until the
 * list is read again in full, and new rows wait. found are the present values of goneRows; a row without one
 * is deleted.
 */
export function keepOrder(
  old: Shown,
  page: readonly Row[],
  found: readonly Row[],
  size: number,
  order: Order,
): Shown {
  const fresh = new Map([...page, ...found].map((row) => [row.id, row]));
  const gone = new Set(goneRows(old.rows, page, size, order).map((row) => row.id));
  const shown = new Set(old.rows.map((row) => row.id));
  const last = old.rows.at(-1);
  const unknown = page.filter((row) => !shown.has(row.id));
  const next = old.done && last ? unknown.filter((row) => isAfter(row, last, order)) : [];
  return {
    rows: [
      ...old.rows
        .filter((row) => fresh.has(row.id) || !gone.has(row.id))
        .map((row) => fresh.get(row.id) ?? row),
      ...next,
    ],
    arrived: unknown.filter((row) => !next.includes(row) && (!last || !isAfter(row, last, order))).length,
    done: old.done && page.length < size,
  };
}

/**
 * Puts a fresh first page before the rows after it that were loaded already. A page that is not full
 * has all reports.
 */
export function mergePage(old: readonly Row[], page: readonly Row[], size: number, order: Order): Shown {
  const last = page.at(-1);
  if (page.length < size || !last) return { rows: [...page], arrived: 0, done: true };
  const known = new Set(page.map((row) => row.id));
  const after = old.filter((row) => !known.has(row.id) && isAfter(row, last, order));
  return { rows: [...page, ...after], arrived: 0, done: false };
}
