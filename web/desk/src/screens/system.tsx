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
      <Mail />
      <Functions />
      {data && <Sizes state={data} />}
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
        <div className="flex flex-wrap gap-2">
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
      atOnce
      title={text.system.backups}
      name="backups"
      label={text.refresh}
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

/** The functions, how often they were called since the start of the program, and their log. */
function Functions() {
  const text = useText();
  return (
    <Operation<FunctionsState> atOnce title={text.system.functions} name="functions" label={text.refresh}>
      {({ functions, stats }) => (
        <>
          <div className="overflow-x-auto">
            <table className="w-full text-sm tabular-nums">
              <thead className="text-muted-foreground">
                <tr className="border-b">
                  <th className="py-1 text-start font-normal">{text.system.name}</th>
                  {[text.system.calls, text.system.errors, text.system.half, text.system.most].map((head) => (
                    <th key={head} className="py-1 ps-3 text-end font-normal">
                      {head}
                    </th>
                  ))}
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
                      <td className="py-1 ps-3 text-end">{figures ? milliseconds(figures.p50) : '–'}</td>
                      <td className="py-1 ps-3 text-end">{figures ? milliseconds(figures.p95) : '–'}</td>
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
