import {
  type Backup,
  type Finding,
  type Job,
  operate,
  readSystem,
  retryJob,
  type SystemState,
} from '@desk/backend/system';
import { attempt } from '@desk/components/toast';
import { Button, Failure, Loading, Panel, ScreenHead } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { shortTime, since, useLanguage, useText } from '@desk/i18n/language';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { cn } from '@/components/cn';
import { size } from './resources/preview';

/** The state of the installation, and the few things that an owner does with it. */
export default function System() {
  const text = useText();
  const { data, error, reload } = useLoad(readSystem, 'system');
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4">
      <ScreenHead title={text.system.title}>
        <Button variant="outline" onClick={reload}>
          {text.refresh}
        </Button>
      </ScreenHead>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <Doctor />
      <Backups />
      {data ? <Jobs jobs={data.jobs} onDone={reload} /> : !error && <Loading />}
      {data && <Sizes state={data} />}
      <Mail />
      <Logs />
    </div>
  );
}

/** A button that runs an operation and shows its result below. With atOnce it runs when the page opens, too. */
function Operation<T>({
  title,
  name,
  label,
  children,
  extra,
  atOnce,
}: {
  atOnce?: true;
  title: string;
  name: string;
  label: string;
  children: (result: T) => ReactNode;
  extra?: (reload: () => void) => ReactNode;
}) {
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
    if (atOnce) void latest.current();
  }, [atOnce]);
  return (
    <Panel
      title={title}
      aside={
        <div className="flex gap-2">
          {extra?.(run)}
          <Button variant="outline" disabled={busy} onClick={run}>
            {busy ? text.loading : label}
          </Button>
        </div>
      }
    >
      {error !== undefined && <Failure error={error} />}
      {result !== undefined && children(result)}
    </Panel>
  );
}

function Doctor() {
  const text = useText();
  const tone: Record<string, string> = { ok: 'text-done', BAD: 'text-destructive font-semibold' };
  return (
    <Operation<Finding[]> atOnce title={text.system.doctor} name="doctor" label={text.system.runDoctor}>
      {(findings) => (
        <dl className="grid gap-x-4 gap-y-1 text-sm sm:grid-cols-[auto_auto_1fr]">
          {findings.map((f) => (
            <div key={f.What + f.Says} className="contents">
              <dt className={cn('max-sm:mt-2', tone[f.Verdict] ?? 'text-sun-ink')}>{f.Verdict}</dt>
              <dd className="font-semibold">{f.What}</dd>
              <dd className="text-muted-foreground wrap-anywhere">{f.Says}</dd>
            </div>
          ))}
        </dl>
      )}
    </Operation>
  );
}

function Backups() {
  const { text, language } = useLanguage();
  return (
    <Operation<Backup[] | null>
      atOnce
      title={text.system.backups}
      name="backups"
      label={text.refresh}
      extra={(reload) => (
        <>
          <Button
            variant="outline"
            onClick={() => attempt(text, () => operate('backup'), text.system.done).then(reload)}
          >
            {text.system.makeBackup}
          </Button>
          <Button
            variant="outline"
            onClick={() => attempt(text, () => operate('backup-verify'), text.system.done).then(reload)}
          >
            {text.system.verify}
          </Button>
        </>
      )}
    >
      {(list) =>
        !list || list.length === 0 ? (
          <p>{text.system.noBackups}</p>
        ) : (
          <ul className="text-sm">
            {list.slice(0, 10).map((b) => (
              <li key={b.Name} className="flex flex-wrap gap-x-4">
                <span className="font-mono">{b.Name}</span>
                <span className="text-muted-foreground">
                  {shortTime(language, b.Time)} ({text.system.age(since(b.Time))}) · {size(b.Size)}
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Operation>
  );
}

function Jobs({ jobs, onDone }: { jobs: Job[]; onDone: () => void }) {
  const { text, language } = useLanguage();
  return (
    <Panel title={text.system.jobs}>
      {jobs.length === 0 && <p className="text-muted-foreground">{text.system.noJobs}</p>}
      <ul className="divide-y">
        {jobs.map((job) => (
          <li key={job.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2 text-sm">
            <span className="font-mono">{job.name ?? job.kind}</span>
            <span className="text-muted-foreground">
              {job.state} · {text.system.attempt(job.attempt, job.max_attempts)} ·{' '}
              {shortTime(language, job.created_at)}
            </span>
            <Button
              variant="outline"
              className="ms-auto"
              onClick={() => attempt(text, () => retryJob(job.id), text.system.retried).then(onDone)}
            >
              {text.system.retryJob}
            </Button>
            {job.error && (
              <p className="text-muted-foreground basis-full text-xs wrap-anywhere">{job.error}</p>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Sizes({ state }: { state: SystemState }) {
  const text = useText();
  const lines: [string, string][] = [
    ['Postgres', state.postgres],
    [text.system.schema, state.schema],
    [text.system.database, size(state.database_bytes)],
    [text.nav.reports, String(state.reports)],
    [text.nav.trail, String(state.trail)],
    ...state.buckets.map((b): [string, string] => [
      b.name,
      `${text.system.files(b.files)}, ${size(b.bytes)}`,
    ]),
  ];
  return (
    <Panel title={text.system.sizes}>
      <dl className="gap-x-10 text-sm sm:columns-2">
        {lines.map(([name, value]) => (
          <div key={name} className="flex break-inside-avoid justify-between gap-4 border-b py-1">
            <dt className="text-muted-foreground">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Mail() {
  const text = useText();
  return (
    <Operation<Record<string, string>> title={text.system.mail} name="mail-test" label={text.system.testMail}>
      {(channels) => (
        <ul className="text-sm">
          {Object.entries(channels).map(([channel, failure]) => (
            <li key={channel}>
              {channel}:{' '}
              {failure ? (
                <span className="text-destructive">{failure}</span>
              ) : (
                <span className="text-done">{text.system.mailDone}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Operation>
  );
}

function Logs() {
  const text = useText();
  return (
    <Operation<unknown[]> title={text.system.functions} name="function-logs" label={text.system.readLogs}>
      {(lines) =>
        lines.length === 0 ? (
          <p>{text.system.noLogs}</p>
        ) : (
          <section
            className="bg-muted max-h-80 overflow-auto rounded p-2"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll the log
            tabIndex={0}
            aria-label={text.system.functions}
          >
            <pre className="text-xs">
              {lines
                .slice(-200)
                .reverse()
                .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
                .join('\n')}
            </pre>
          </section>
        )
      }
    </Operation>
  );
}
