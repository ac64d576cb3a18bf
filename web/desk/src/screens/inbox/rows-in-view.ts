/** Pixels of a row of the list. */
export const rowHeight = 66;

/** Rows that are drawn above and below those in view. */
const spare = 8;

/** What a list shows: its pixels above, and its height. */
interface View {
  top: number;
  height: number;
}

/** Returns the rows to draw: the index of the first, and the index after the last. */
export function rowsInView({ top, height }: View, rows: number) {
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  return { first, last: Math.min(rows, Math.ceil((top + height) / rowHeight) + spare) };
}

/** Returns the pixels above that bring a row into view with the least scrolling. */
export function topThatShows(index: number, { top, height }: View) {
  const start = index * rowHeight;
  if (start < top) return start;
  return Math.max(top, start + rowHeight - height);
}

/**
 * Returns by how many rows a key moves the choice, or undefined. A page has as many rows as are in
 * view.
 */
export function stepsOf(key: string, { height }: View): number | undefined {
  const page = Math.floor(height / rowHeight);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  };
  return steps[key];
}
