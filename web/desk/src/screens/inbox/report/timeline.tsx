import { type Report, readTimeline, type TimelineEntry } from '@desk/backend/reports';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { useLoad } from '@desk/components/use-load';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useStaffNames } from '@desk/session/staff-names';
import { timelineLine } from './timeline-line';

/** What happened to the report, who did it and when. */
export function Timeline({ report }: { report: Report }) {
  const { text } = useLanguage();
  const { data, error, reload } = useLoad(() => readTimeline(report.id), report.id, report.updated_at);
  return (
    <Panel title={text.timeline.title} className="no-print">
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      <ol className="flex flex-col gap-1.5 text-sm">
        {data?.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </ol>
    </Panel>
  );
}

function Line({ entry }: { entry: TimelineEntry }) {
  const { text, language } = useLanguage();
  const names = useStaffNames();
  const { who, what } = timelineLine(entry, text, language, names);
  return (
    <li className="grid grid-cols-[7.5rem_1fr] gap-2">
      <time dateTime={entry.at} className="text-muted-foreground">
        {shortTime(language, entry.at)}
      </time>
      <span className="wrap-anywhere">
        {who && <strong className="font-semibold">{who}</strong>} {what}
      </span>
    </li>
  );
}
