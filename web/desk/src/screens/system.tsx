import {
  type Backup,
  type Finding,
  type FunctionsState,
  type Job,
  type LogLine,
  operate,
  readSystem,
  retryJob,
  type SystemState,
  type Verified,
} from '@desk/backend/system';
import { attempt } from '@desk/components/toast';
import { Button, Failure, Loading, Panel, ScreenHead } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { shortTime, since, useLanguage, useText } from '@desk/i18n/language';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import { cn } from '@/components/cn';
import { size } from './resources/preview';

/** The state of the installation, and the few things that an owner does with it. */
export default function System() {
  const text = useText();
  const { data, error, reload } = useLoad(readSystem, 'system');
  const [times, setTimes] = useState(0); // how often the page was refreshed
  const refresh = () => {
    reload();
    setTimes(times + 1);
  };
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4">
      <ScreenHead title={text.system.title}>
        <Button variant="outline" onClick={refresh}>
          {text.refresh}
        </Button>
      </ScreenHead>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <Doctor times={times} />
      <Backups times={times} />
      {data ? <Jobs jobs={data.jobs} onDone={reload} /> : !error && <Loading />}
      <Mail />
      <Functions times={times} />
      {data && <Sizes state={data} />}
    </div>
  );
}

interface OperationProps<T> {
  title: string;
  name: string;
  times?: number; // the operation runs when the page opens, and when this changes
  label?: string; // of a button that runs the operation
  idle?: ReactNode; // shown before the first run
  children: (result: T) => ReactNode;
  extra?: (reload: () => void) => ReactNode;
}

/** The result of an operation, with the buttons that belong to it. */
function Operation<T>({ title, name, label, idle, children, extra, times }: OperationProps<T>) {
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

const tones: Record<string, string> = {
  ok: 'bg-done-soft text-done',
  warn: 'bg-sun-soft text-sun-ink',
  BAD: 'bg-destructive-soft text-destructive',
};

interface Refreshed {
  times: number;
}

function Doctor({ times }: Refreshed) {
  const text = useText();
  return (
    <Operation<Finding[]> times={times} title={text.system.doctor} name="doctor">
      {(findings) => (
        <dl
          lang="en"
          className="grid items-baseline gap-x-4 gap-y-1 text-sm grid-cols-[auto_1fr] sm:grid-cols-[auto_auto_1fr]"
        >
          {findings.map((f) => (
            <div key={f.What + f.Says} className="contents">
              <dt>
                <span
                  className={cn(
                    'inline-block rounded px-1.5 text-xs font-semibold',
                    tones[f.Verdict] ?? 'bg-muted text-muted-foreground',
                  )}
                >
                  {f.Verdict}
                </span>
              </dt>
              <dd className="font-semibold">{f.What}</dd>
              <dd className="text-muted-foreground wrap-anywhere max-sm:col-span-2 max-sm:mb-2">{f.Says}</dd>
            </div>
          ))}
        </dl>
      )}
    </Operation>
  );
}

function Backups({ times }: Refreshed) {
  const { text, language } = useLanguage();
  const [busy, setBusy] = useState<'make' | 'verify'>();
  const run = async (kind: 'make' | 'verify', action: () => Promise<string>) => {
    setBusy(kind);
    await attempt(text, () => action().then((done) => toast.success(done)));
    setBusy(undefined);
  };
  const make = async () => text.system.made(size((await operate<Backup>('backup')).Size));
  const verify = async () => {
    const found = await operate<Verified>('backup-verify');
    return text.system.verified(found.Backups, found.Files, size(found.Bytes));
  };
  return (
    <Operation<Backup[] | null>
      times={times}
      title={text.system.backups}
      name="backups"
      extra={(reload) => (
        <>
          <Button
            variant="outline"
            disabled={busy !== undefined}
            onClick={() => run('make', make).then(reload)}
          >
            {busy === 'make' ? text.system.making : text.system.makeBackup}
          </Button>
          <Button variant="outline" disabled={busy !== undefined} onClick={() => run('verify', verify)}>
            {busy === 'verify' ? text.loading : text.system.verify}
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
  const version = useLoad(() => operate<string>('version'), 'version');
  const lines: [string, string][] = [
    [text.system.version, version.data ?? '–'],
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
    <Operation<Record<string, string>>
      title={text.system.mail}
      name="mail-test"
      label={text.system.testMail}
      idle={<p className="text-muted-foreground">{text.system.mailHelp}</p>}
    >
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

/** The functions, how often they were called since the start of the program, and their log. */
function Functions({ times }: Refreshed) {
  const text = useText();
  return (
    <Operation<FunctionsState> times={times} title={text.system.functions} name="functions">
      {({ functions, stats }) => (
        <>
          <div className="overflow-x-auto">
            <table className="w-full text-sm tabular-nums">
              <thead className="text-muted-foreground">
                <tr className="border-b">
                  <th className="py-1 text-start font-normal">{text.system.name}</th>
                  {[text.system.calls, text.system.errors, text.system.half, text.system.most].map(
                    (head, i) => (
                      <th
                        key={head}
                        className={cn('py-1 ps-3 text-end font-normal', i > 1 && 'max-sm:hidden')}
                      >
                        {head}
                      </th>
                    ),
                  )}
                </tr>
              </thead>
              <tbody>
                {functions.map(({ name }) => {
                  const figures = stats.find((s) => s.function === name);
                  return (
                    <tr key={name} className="border-b">
                      <th scope="row" className="py-1 text-start font-mono font-normal">
                        {name}
                      </th>
                      <td className="py-1 ps-3 text-end">{figures?.calls ?? 0}</td>
                      <td
                        className={cn(
                          'py-1 ps-3 text-end',
                          figures?.errors && 'text-destructive font-semibold',
                        )}
                      >
                        {figures?.errors ?? 0}
                      </td>
                      <td className="py-1 ps-3 text-end max-sm:hidden">
                        {figures ? milliseconds(figures.p50) : '–'}
                      </td>
                      <td className="py-1 ps-3 text-end max-sm:hidden">
                        {figures ? milliseconds(figures.p95) : '–'}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          <Log />
        </>
      )}
    </Operation>
  );
}

const milliseconds = (nanoseconds: number) => `${Math.max(1, Math.round(nanoseconds / 1e6))} ms`;

function Log() {
  const text = useText();
  const [lines, setLines] = useState<LogLine[]>();
  const read = async () => setLines(await attempt(text, () => operate<LogLine[]>('function-logs')));
  return (
    <div className="mt-3 flex flex-col items-start gap-2">
      <Button variant="outline" onClick={read}>
        {text.system.readLogs}
      </Button>
      {lines?.length === 0 && <p>{text.system.noLogs}</p>}
      {lines && lines.length > 0 && (
        <section
          className="bg-muted max-h-80 w-full overflow-auto rounded p-2"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll the log
          tabIndex={0}
          aria-label={text.system.log}
        >
          <pre className="text-xs">
            {lines
              .slice(-200)
              .reverse()
              .map((line) => (
                <span
                  key={line.n}
                  className={cn('block', /WARN|ERROR/.test(line.level) && 'text-destructive')}
                >
                  {line.text}
                </span>
              ))}
          </pre>
        </section>
      )}
    </div>
  );
}
