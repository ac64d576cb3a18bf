import { type Job, retryJob } from '@desk/backend/system';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';

/** The jobs that have failed, which can run again. */
export function FailedJobs({ jobs, onDone }: { jobs: Job[]; onDone: () => void }) {
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
