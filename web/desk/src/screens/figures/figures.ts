import type { Figures } from '@desk/backend/figures';
import type { Text } from '@desk/i18n/en';

type Counts = [name: string, number: number][];

const week = 7 * 86_400_000;

/**
 * Adds the weeks without a report between the first and the last. Weeks are named by their first
 * day.
 */
export function everyWeek(weeks: Counts): Counts {
  const known = new Map(weeks);
  const first = weeks[0]?.[0];
  const last = weeks.at(-1)?.[0];
  if (!first || !last) return [];
  const all: Counts = [];
  for (let start = Date.parse(first); start <= Date.parse(last); start += week) {
    const name = new Date(start).toISOString().slice(0, 10);
    all.push([name, known.get(name) ?? 0]);
  }
  return all;
}

/** Returns the number of each region, and of reports without a known one. */
export function regionCounts(counts: Figures['regions'], regions: string[], noRegion: string): Counts {
  const known = regions.map((name): Counts[number] => [name, counts[name] ?? 0]);
  return [...known, [noRegion, counts['-'] ?? 0]];
}

export const largestFirst = (values: Counts) => [...values].sort((a, b) => b[1] - a[1]);

/**
 * Returns the figures as rows of one file: weeks, regions and products, with an empty row between.
 */
export function figuresTable({ weeks, regions, products }: Figures, text: Text) {
  const { week, number } = text.figures;
  return [
    [week, number],
    ...weeks,
    [],
    [text.inbox.region, number],
    ...Object.entries(regions),
    [],
    [text.inbox.product, number],
    ...products,
  ];
}
