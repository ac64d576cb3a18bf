/** LONG=1 runs every case. Otherwise a test with many cases of a kind takes a part of them, always the same. */
export const everyCase = process.env.LONG === '1';

/** Returns every nth of the cases, beginning with the first, or all with LONG=1. */
export function sample<T>(cases: readonly T[], every: number): T[] {
  return cases.filter((_, index) => everyCase || index % every === 0);
}
