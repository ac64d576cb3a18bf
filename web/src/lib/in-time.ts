/**
 * Milliseconds after which code, styles or texts that the reader waits for count as missing: on a dead connection a
 * request neither succeeds nor fails. They may still arrive later.
 */
export const partTimeout = 8000;

/** The same for what a report cannot be sent without. At 10 kbit/s its 40 kB take half a minute. */
export const sendingTimeout = 40_000;

/** Rejects with a TypeError if the work takes longer than that many milliseconds. The work itself is not stopped. */
export function inTime<T>(work: Promise<T>, milliseconds: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TypeError(`${what} took too long`)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
