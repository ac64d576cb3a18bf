import { isMissing, type Report, readReport } from '@desk/backend/reports';
import type { Member } from '@desk/backend/staff';
import { Button } from '@desk/components/button';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { ArrowLeft } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Facts } from './facts';
import { Notes } from './notes';
import { Photo } from './photo';
import { ReportHead } from './report-head';
import { SimilarReports } from './similar-reports';
import { Triage } from './triage';

interface Props {
  reference: string;
  version: number; // grows when this report was changed elsewhere on the page
  staff: Member[];
  onChanged: () => void;
  onBack: () => void;
}

/**
 * Milliseconds that a report stays chosen before it is opened, so that paging through the list
 * reads nothing.
 */
const pause = 150;

/** One report in full. */
export function ReportPane({ reference, version, staff, onChanged, onBack }: Props) {
  const text = useText();
  const { data, error, reload } = useLoad(
    () => new Promise((resolve) => setTimeout(resolve, pause)).then(() => readReport(reference)),
    reference,
  );
  const latest = useRef(reload);
  latest.current = reload;
  const shown = useRef(version);
  useEffect(() => {
    if (version <= shown.current) return; // the report is loaded when it is opened
    shown.current = version;
    latest.current();
  }, [version]);
  const changed = () => {
    onChanged();
    reload();
  };
  const deleted = () => {
    onChanged();
    onBack();
  };
  return (
    <div className="flex flex-col gap-4">
      <Button variant="ghost" className="no-print self-start lg:hidden" onClick={onBack}>
        <ArrowLeft aria-hidden="true" /> {text.nav.reports}
      </Button>
      {data ? (
        <Whole report={data} staff={staff} onChanged={changed} onDeleted={deleted} />
      ) : error ? (
        isMissing(error) ? (
          <p role="alert" className="bg-card text-muted-foreground rounded-lg border px-4 py-10 text-center">
            {text.report.missing}
          </p>
        ) : (
          <Failure error={error} retry={reload} />
        )
      ) : (
        <Loading />
      )}
    </div>
  );
}

interface WholeProps {
  report: Report;
  staff: Member[];
  onChanged: () => void;
  onDeleted: () => void;
}

function Whole({ report, staff, onChanged, onDeleted }: WholeProps) {
  const text = useText();
  return (
    <>
      <ReportHead report={report} onDeleted={onDeleted} />
      <Triage report={report} staff={staff} onChanged={onChanged} />
      <Panel title={text.report.what}>
        <p className="max-w-prose text-base whitespace-pre-wrap wrap-anywhere" lang={report.language}>
          {report.issue_description}
        </p>
      </Panel>
      <Facts report={report} />
      {report.photo_url && (
        <Photo name={report.photo_url} metadata={report.photo_metadata} reference={report.reference} />
      )}
      <Notes report={report} onAdded={onChanged} />
      {(report.similar.length > 0 || report.duplicate_of) && (
        <SimilarReports report={report} onChanged={onChanged} />
      )}
    </>
  );
}
