/** Returns a storage of the browser, or an empty object if the browser forbids it. */
export function available(storage: () => Storage): Partial<Storage> {
  try {
    return storage();
  } catch {
    return {};
  }
}
