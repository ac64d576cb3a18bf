import type { Similar } from '@desk/backend/reports';
import { ReportLink } from '@desk/cases/report-link';
import type { Case } from '@desk/cases/use-case';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Panel } from '@desk/components/panel';
import { StatusBadge } from '@desk/components/status-badge';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useState } from 'react';
import { likelyFirst } from './compare';
import { Comparison } from './comparison';

/** Reports of the same product from the same weeks. Two can be compared side by side. */
export function SimilarReports({ report, change }: Case) {
  const { text, language } = useLanguage();
  const [compared, setCompared] = useState<Similar>();
  return (
    <Panel title={text.report.similar} className="no-print">
      {report.duplicate_of && (
        <p className="bg-muted mb-3 flex flex-wrap items-center gap-2 rounded-lg p-2">
          {text.report.duplicateOf}
          <ReportLink reference={report.duplicate_of} />
          <Button variant="outline" onClick={() => change({ duplicate_of: null }, text.saved)}>
            {text.report.notDuplicate}
          </Button>
        </p>
      )}
      <ul className="divide-y">
        {likelyFirst(report.similar).map((other) => (
          <li key={other.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <ReportLink reference={other.reference} />
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
              onClick={() => {
                setCompared(undefined);
                change({ duplicate_of: compared.id }, text.saved);
              }}
            >
              {text.report.markDuplicate(report.reference, compared.reference)}
            </Button>
          </div>
        </Dialog>
      )}
    </Panel>
  );
}
