import { changeReport, type Report, readReport, type Similar } from '@desk/backend/reports';
import { attempt } from '@desk/components/toast';
import { Button, Dialog, Failure, Loading, Panel, StatusBadge } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { shortTime, useLanguage } from '@desk/i18n/language';
import { useState } from 'react';
import { Link } from 'react-router-dom';

/** Reports of the same product from the same weeks. Two can be compared side by side. */
export function SimilarReports({ report, onChanged }: { report: Report; onChanged: () => void }) {
  const { text, language } = useLanguage();
  const [compared, setCompared] = useState<Similar>();
  return (
    <Panel title={text.report.similar} className="no-print">
      {report.duplicate_of && (
        <p className="bg-muted mb-3 flex flex-wrap items-center gap-2 rounded-lg p-2">
          {text.report.duplicateOf}
          <Link className="text-primary font-mono underline" to={`/reports/${report.duplicate_of}`}>
            {report.duplicate_of}
          </Link>
          <Button
            variant="outline"
            onClick={() =>
              attempt(text, () => changeReport(report.id, { duplicate_of: null }), text.saved).then(onChanged)
            }
          >
            {text.report.notDuplicate}
          </Button>
        </p>
      )}
      <ul className="divide-y">
        {likelyFirst(report.similar).map((other) => (
          <li key={other.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <Link className="text-primary font-mono underline" to={`/reports/${other.reference}`}>
              {other.reference}
            </Link>
            <StatusBadge status={other.status} />
            <span className="text-muted-foreground text-sm">
              {other.region ?? text.inbox.noRegion} · {shortTime(language, other.created_at)}
            </span>
            {other.likely && <span className="text-henna text-sm">{text.report.likely}</span>}
            <Button variant="outline" className="ms-auto" onClick={() => setCompared(other)}>
              {text.report.compare}
            </Button>
          </li>
        ))}
      </ul>
      {compared && (
        <Dialog title={text.report.compareTitle} onClose={() => setCompared(undefined)} wide>
          <Comparison report={report} other={compared.reference} />
          <div className="flex flex-wrap justify-end gap-2">
            <Button variant="outline" onClick={() => setCompared(undefined)}>
              {text.close}
            </Button>
            <Button
              onClick={() =>
                attempt(text, () => changeReport(report.id, { duplicate_of: compared.id }), text.saved).then(
                  () => {
                    setCompared(undefined);
                    onChanged();
                  },
                )
              }
            >
              {text.report.markDuplicate(report.reference, compared.reference)}
            </Button>
          </div>
        </Dialog>
      )}
    </Panel>
  );
}

const likelyFirst = (list: Similar[]) => [...list].sort((a, b) => Number(b.likely) - Number(a.likely));

function Comparison({ report, other }: { report: Report; other: string }) {
  const { text, language } = useLanguage();
  const { data, error } = useLoad(() => readReport(other), other);
  if (error) return <Failure error={error} />;
  if (!data) return <Loading />;
  const lines: [string, (r: Report) => string | null][] = [
    [text.forward.reference, (r) => r.reference],
    [text.report.received, (r) => shortTime(language, r.created_at)],
    [text.report.product, (r) => r.product_name],
    [text.report.batch, (r) => r.batch_number],
    [text.report.bought, (r) => r.where_bought],
    [text.report.place, (r) => r.location],
    [text.report.phone, (r) => r.phone],
    [text.report.what, (r) => r.issue_description],
  ];
  return (
    <div className="overflow-x-auto">
      <table className="w-full table-fixed text-sm">
        <tbody>
          {lines.map(([name, get]) => (
            <tr
              key={name}
              className={get(report) && get(report) === get(data) ? 'bg-sun-soft text-sun-ink' : ''}
            >
              <th scope="row" className="w-24 p-1.5 text-start align-top font-normal">
                {name}
              </th>
              <td className="p-1.5 align-top whitespace-pre-wrap wrap-anywhere">{get(report) ?? '–'}</td>
              <td className="p-1.5 align-top whitespace-pre-wrap wrap-anywhere">{get(data) ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
