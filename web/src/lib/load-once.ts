/**
 * Returns a function that starts `load` at its first call and returns the same promise at every call. After a failure
 * the next call starts `load` again.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
}
