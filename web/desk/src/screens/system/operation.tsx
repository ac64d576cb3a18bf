import { operate } from '@desk/backend/system';
import { Button } from '@desk/components/button';
import { Failure } from '@desk/components/failure';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { type ReactNode, useEffect, useRef, useState } from 'react';

interface Props<T> {
  title: string;
  name: string;
  times?: number; // the operation runs when the page opens, and when this changes
  label?: string; // of a button that runs the operation
  idle?: ReactNode; // shown before the first run
  children: (result: T) => ReactNode;
  extra?: (reload: () => void) => ReactNode;
}

/** The result of an operation, with the buttons that belong to it. */
export function Operation<T>({ title, name, label, idle, children, extra, times }: Props<T>) {
  const text = useText();
  const [result, setResult] = useState<T>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      setResult(await operate<T>(name));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (times !== undefined) void latest.current();
  }, [times]);
  return (
    <Panel
      title={title}
      aside={
        <div className="flex flex-wrap gap-2">
          {extra?.(run)}
          {label && (
            <Button variant="outline" disabled={busy} onClick={run}>
              {busy ? text.loading : label}
            </Button>
          )}
        </div>
      }
    >
      {error !== undefined && <Failure error={error} retry={run} />}
      {result !== undefined && children(result)}
      {result === undefined &&
        error === undefined &&
        (busy ? (
          <p role="status" className="text-muted-foreground">
            {text.loading}
          </p>
        ) : (
          idle
        ))}
    </Panel>
  );
}
