/** Returns the heights of bars, the highest as high as the picture. A week without a report keeps a line. */
export function weekBars(weeks: readonly number[], height: number) {
  const most = Math.max(1, ...weeks);
  return weeks.map((n) => Math.max(1, Math.round((n / most) * height)));
}

/** Returns a chance as '0.8 %' or '< 0.1 %'. */
export const chanceWord = (chance: number) =>
  chance < 0.001 ? '< 0.1 %' : `${Math.round(chance * 1000) / 10} %`;
