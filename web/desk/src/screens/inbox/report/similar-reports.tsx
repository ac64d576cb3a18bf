import { linkReports, type Related, relatedReports } from '@desk/backend/clusters';
import { ReportLink } from '@desk/cases/report-link';
import { useReportsChannel } from '@desk/cases/reports-channel';
import type { Case } from '@desk/cases/use-case';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { Comparison } from './comparison';
import { SimilarLine } from './similar-line';

/** Reports that belong to this one, each with the reasons. Two can be compared, linked or merged. */
export function SimilarReports({ report, change }: Case) {
  const text = useText();
  const { tell } = useReportsChannel();
  const [compared, setCompared] = useState<Related>();
  const { data, error, reload } = useLoad(
    () => relatedReports(report.id),
    report.id,
    `${report.updated_at} ${report.version}`,
  );
  const link = (others: string[], linked: boolean) =>
    attempt(text, () => linkReports(report.id, others, linked), text.saved)
      .then(tell)
      .then(reload);
  const linked = data?.reports.some(({ reasons }) => reasons.includes('linked'));
  return (
    <Panel
      title={text.report.similar}
      className="no-print"
      aside={
        linked && (
          <Button variant="outline" onClick={() => link([], false)}>
            {text.report.unlink}
          </Button>
        )
      }
    >
      {report.duplicate_of && (
        <p className="bg-muted mb-3 flex flex-wrap items-center gap-2 rounded-lg p-2">
          {text.report.duplicateOf}
          <ReportLink reference={report.duplicate_of} />
          <Button variant="outline" onClick={() => change({ duplicate_of: null }, text.saved)}>
            {text.report.notDuplicate}
          </Button>
        </p>
      )}
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.total === 0 && <p className="text-muted-foreground">{text.report.noSimilar}</p>}
      <ul className="divide-y">
        {data?.reports.map((other) => (
          <SimilarLine
            key={other.id}
            other={other}
            onCompare={() => setCompared(other)}
            onLink={() => link([other.id], true)}
          />
        ))}
      </ul>
      {data && data.total > data.reports.length && (
        <p className="text-muted-foreground mt-2 text-sm">
          {text.report.moreSimilar(data.total - data.reports.length)}
        </p>
      )}
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
