import type { Row } from '@desk/backend/reports';

/**
 * Returns the index of the report that a fragment names, or -1. The address has the choice at once,
 * the screen some moments later: a key that is pressed in between must not change the report
 * before.
 */
export function chosenIndex(rows: readonly Row[], fragment: string) {
  const reference = /^#\/reports\/([^/?]+)/.exec(fragment)?.[1];
  return rows.findIndex((row) => row.reference === reference);
}

/**
 * Returns the row that is a number of steps from the chosen one, or from the start, and not beyond
 * the ends.
 */
export function rowAt(rows: readonly Row[], chosen: number, steps: number): Row | undefined {
  return rows[Math.min(rows.length - 1, Math.max(0, chosen + steps))];
}
