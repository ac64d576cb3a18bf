export type Point = readonly [longitude: number, latitude: number];

/** Returns the pixels of a point: Somalia fills 440 by 560. */
function project([longitude, latitude]: Point) {
  return [(longitude - 40.8) * 41, (12.1 - latitude) * 40] as const;
}

/** Returns the pixels of an outline for a polygon. */
export function pathOf(points: readonly Point[]) {
  return points
    .map(project)
    .map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`)
    .join(' ');
}

/** Returns the pixels of the middle of an outline's corners. */
export function middle(points: readonly Point[]): [x: number, y: number] {
  const mean = (i: 0 | 1) =>
    points.map(project).reduce((sum, pixels) => sum + pixels[i], 0) / Math.max(1, points.length);
  return [mean(0), mean(1)];
}

/** Returns the opacity of a region with n reports, if the region with the most has that many. */
export const shade = (n: number, most: number) => (n === 0 ? 0.08 : 0.2 + (0.8 * n) / most);

/** Returns a number in at most four characters: '999', '1.2k'. */
export const shortNumber = (n: number) => (n < 1000 ? String(n) : `${Math.round(n / 100) / 10}k`);
