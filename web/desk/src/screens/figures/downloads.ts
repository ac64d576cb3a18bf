import type { Downloads } from '@desk/backend/figures';

/** Months that the table has room for. */
const shown = 6;

/** Returns the last months with downloads, and the numbers of each resource in these months. */
export function downloadsByMonth(data: Downloads) {
  const months = [...new Set(data.map(([month]) => month))].sort().slice(-shown);
  const titles = [...new Set(data.map(([, title]) => title))];
  const numbers = (title: string) =>
    months.map((month) => data.find(([m, t]) => m === month && t === title)?.[2] ?? 0);
  return { months, rows: titles.map((title) => [title, numbers(title)] as const) };
}
