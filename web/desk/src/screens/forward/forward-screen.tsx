import { forwardReport, type Report, readReport } from '@desk/backend/reports';
import { saveCases } from '@desk/cases/e2b/save-cases';
import { Notices } from '@desk/cases/notices';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Checkbox } from '@desk/components/checkbox';
import { Failure } from '@desk/components/failure';
import { Field } from '@desk/components/field';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useLanguage } from '@desk/i18n/language';
import { maskPerson } from '@desk/lib/mask-person';
import { StaffNames } from '@desk/session/staff-names';
import { useDraft } from '@desk/session/use-draft';
import { useEffect, useState } from 'react';
import { Link, useParams } from 'react-router-dom';
import { Textarea } from '@/components/ui/input';
import { noticeFacts } from './notice-facts';
import { RecordNotice } from './record-notice';

/** The notice of a report for an authority. */
export default function ForwardScreen() {
  const { reference = '' } = useParams();
  const { data, error, reload } = useLoad(() => readReport(reference), reference);
  useEffect(() => {
    document.title = reference;
  }, [reference]);
  if (error) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  return <Notice key={reference} report={data} onRecorded={reload} />;
}

/** The product, the place and a description that the reviewer has cleared of personal data. */
function Notice({ report, onRecorded }: { report: Report; onRecorded: () => void }) {
  const { text, language } = useLanguage();
  const { reference } = report;
  const [description, setDescription] = useDraft<string | null>(`forward:${reference}`, null);
  const [recipient, setRecipient] = useDraft(`authority:${reference}`, '');
  const [checked, setChecked] = useState(false);
  const words =
    description ?? maskPerson(report.issue_description, [report.name, report.phone, report.phone_e164]);
  const print = async () => {
    const done = await attempt(text, () => forwardReport(reference));
    if (done) window.print();
  };
  const save = async () => {
    const done = await attempt(text, () => forwardReport(reference));
    if (done) saveCases(reference, [{ ...report, words }], recipient);
  };
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <div className="no-print flex flex-col gap-4">
        <ScreenHead title={text.forward.title}>
          <Link className="text-primary underline" to={`/reports/${reference}`}>
            {text.cancel}
          </Link>
        </ScreenHead>
        <p className="bg-sun-soft text-sun-ink rounded-lg p-3">{text.forward.intro}</p>
        <Field label={text.forward.description}>
          {(props) => (
            <Textarea
              {...props}
              rows={8}
              value={words}
              onChange={(e) => {
                setDescription(e.target.value);
                setChecked(false); // it was read before this change
              }}
              lang={report.language}
            />
          )}
        </Field>
        <div className="mt-3 flex flex-wrap items-center gap-4">
          <Checkbox label={text.forward.checked} checked={checked} onChange={setChecked} />
          <Button disabled={!checked} onClick={print}>
            {text.forward.print}
          </Button>
          <Button variant="outline" disabled={!checked} onClick={save}>
            {text.forward.e2b}
          </Button>
        </div>
        <p className="text-muted-foreground mt-2 text-sm">{text.forward.e2bHelp}</p>
      </div>
      <Panel className="print:border-0">
        <h2 className="mb-3 text-lg">{text.forward.from}</h2>
        <dl className="grid grid-cols-[9rem_1fr] gap-y-1">
          {noticeFacts(report, language, text).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted-foreground">{name}</dt>
              <dd className="wrap-anywhere">{value}</dd>
            </div>
          ))}
        </dl>
        <p className="mt-4 whitespace-pre-wrap wrap-anywhere" lang={report.language}>
          {words}
        </p>
      </Panel>
      <RecordNotice
        report={report}
        recipient={recipient}
        onRecipient={setRecipient}
        onDone={() => {
          setRecipient('');
          onRecorded();
        }}
      />
      <StaffNames>
        <Notices notices={report.notices} />
      </StaffNames>
    </div>
  );
}
