/**
 * Tries each value in turn and returns the first result. Throws the last error if none succeeds.
 */
export async function firstSuccess<T, R>(
  values: readonly T[],
  attempt: (value: T) => Promise<R>,
): Promise<R> {
  let failure: unknown;
  for (const value of values) {
    try {
      return await attempt(value);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
