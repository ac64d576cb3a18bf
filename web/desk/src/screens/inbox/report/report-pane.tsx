import { isMissing, lastChange, type Report, readReport } from '@desk/backend/reports';
import { Notices } from '@desk/cases/notices';
import { useReportsChannel } from '@desk/cases/reports-channel';
import { useCase } from '@desk/cases/use-case';
import { useColleagues } from '@desk/cases/use-colleagues';
import { useSignals } from '@desk/cases/use-signals';
import { Button } from '@desk/components/button';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { ArrowLeft, Eye } from 'lucide-react';
import { useEffect } from 'react';
import { Assessment } from './assessment';
import { Contacts } from './contacts';
import { Facts } from './facts';
import { LikelyDuplicate } from './likely-duplicate';
import { Notes } from './notes';
import { Photo } from './photo';
import { ReportHead } from './report-head';
import { SimilarReports } from './similar-reports';
import { Timeline } from './timeline';
import { Triage } from './triage';

interface Props {
  reference: string;
  onBack: () => void;
}

/**
 * Milliseconds that a report stays chosen before it is opened, so that paging through the list
 * reads nothing.
 */
const pause = 150;

/** One report in full. It is read again when it changes. */
export function ReportPane({ reference, onBack }: Props) {
  const text = useText();
  const { data, error, reload } = useLoad(
    () => new Promise((resolve) => setTimeout(resolve, pause)).then(() => readReport(reference)),
    reference,
  );
  const { show, tell } = useReportsChannel();
  useEffect(() => {
    show(reference);
    return () => show(null);
  }, [show, reference]);
  useSignals(async () => {
    if (!data) return;
    const at = await lastChange(data.id).catch(() => data.updated_at); // the list shows that the server does not reply
    if (at !== data.updated_at) reload();
  });
  const deleted = () => {
    tell();
    onBack();
  };
  return (
    <div className="flex flex-col gap-4">
      <Button variant="ghost" className="no-print self-start lg:hidden" onClick={onBack}>
        <ArrowLeft aria-hidden="true" /> {text.nav.reports}
      </Button>
      {data && !isMissing(error) ? (
        <Whole report={data} onDeleted={deleted} />
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

function Whole({ report: read, onDeleted }: { report: Report; onDeleted: () => void }) {
  const text = useText();
  const { report, change } = useCase(read);
  return (
    <>
      <ReportHead report={report} onDeleted={onDeleted} />
      <Readers reference={report.reference} />
      <LikelyDuplicate report={report} change={change} />
      <Triage report={report} change={change} />
      <Panel title={text.report.what}>
        <p className="max-w-prose text-base whitespace-pre-wrap wrap-anywhere" lang={report.language}>
          {report.issue_description}
        </p>
      </Panel>
      <Facts report={report} />
      {report.photo_url && (
        <Photo name={report.photo_url} metadata={report.photo_metadata} reference={report.reference} />
      )}
      <Assessment report={report} change={change} />
      <Contacts report={report} />
      <Notices notices={report.notices} />
      <Notes report={report} />
      <SimilarReports report={report} change={change} />
      <Timeline report={report} />
    </>
  );
}

/** Says which colleagues have the same report open. */
function Readers({ reference }: { reference: string }) {
  const text = useText();
  const names = useColleagues(reference);
  return (
    <p role="status" className="no-print text-new flex items-center gap-2 text-sm empty:hidden">
      {names.length > 0 && (
        <>
          <Eye aria-hidden="true" className="size-4" /> {text.inbox.openAt(names.join(', '))}
        </>
      )}
    </p>
  );
}
