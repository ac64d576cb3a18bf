import { useCallback, useEffect, useRef, useState } from 'react';

interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

/**
 * Loads data when the screen opens, and when key or version changes. The data of another key goes at
 * once. That of another version of the same thing stays until the new data is there.
 */
export function useLoad<T>(load: () => Promise<T>, key: string, version = ''): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown; loading: boolean }>({
    key,
    loading: true,
  });
  const latest = useRef(load);
  latest.current = load;
  const run = useRef(0);
  const reload = useCallback(() => {
    const mine = ++run.current;
    setState((old) => ({ ...old, key, loading: true, data: old.key === key ? old.data : undefined }));
    latest.current().then(
      (data) => mine === run.current && setState({ key, data, loading: false }),
      (error) => mine === run.current && setState((old) => ({ ...old, error, loading: false })),
    );
  }, [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version is read again
  useEffect(() => {
    reload();
    return () => {
      run.current++;
    };
  }, [reload, version]);
  return { data: state.data, error: state.error, loading: state.loading, reload };
}
