import { changeReport, type Report, type Similar } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Panel } from '@desk/components/panel';
import { StatusBadge } from '@desk/components/status-badge';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { likelyFirst } from './compare';
import { Comparison } from './comparison';

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
