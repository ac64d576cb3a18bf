import {
  type Change,
  changeReport,
  type Report,
  readReport,
  type Status,
  statuses,
} from '@desk/backend/reports';
import type { Member } from '@desk/backend/staff';
import { attempt } from '@desk/components/toast';
import { Button, Failure, Loading, NativeSelect, Panel } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { shortDay, shortTime, useLanguage, useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session-gate';
import { ArrowLeft, Phone, Printer, Send, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import { cn } from '@/components/cn';
import { regions } from '@/content/regions';
import { DeleteDialog } from './delete-dialog';
import { Notes } from './notes';
import { Photo } from './photo';
import { SimilarReports } from './similar-reports';

interface Props {
  reference: string;
  version: number; // grows when this report was changed elsewhere on the page
  staff: Member[];
  onChanged: () => void;
  onBack: () => void;
}

/** Milliseconds that a report stays chosen before it is opened, so that paging through the list reads nothing. */
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
        (error as { code?: string }).code === 'PT404' ? (
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
      <Head report={report} onDeleted={onDeleted} />
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

function Head({ report, onDeleted }: { report: Report; onDeleted: () => void }) {
  const { text, language } = useLanguage();
  const { role } = useAccess();
  const [removing, setRemoving] = useState(false);
  return (
    <div className="flex flex-wrap items-start gap-2">
      <div className="min-w-0 flex-1">
        <h1 className="text-xl wrap-anywhere">{report.product_name}</h1>
        <p className="text-muted-foreground text-sm">
          <span className="font-mono">{report.reference}</span> · {text.report.received}{' '}
          {shortTime(language, report.created_at)}
        </p>
      </div>
      <div className="no-print flex gap-1">
        <Button variant="outline" onClick={() => window.print()}>
          <Printer aria-hidden="true" className="size-4!" />{' '}
          <span className="max-sm:sr-only">{text.report.print}</span>
        </Button>
        <Link
          to={`/reports/${report.reference}/forward`}
          className="bg-card border-input hover:bg-muted inline-flex min-h-11 items-center gap-2 rounded-lg border px-3 text-sm font-semibold pointer-fine:min-h-9"
        >
          <Send aria-hidden="true" className="size-4" />{' '}
          <span className="max-sm:sr-only">{text.report.forward}</span>
        </Link>
        {role === 'owner' && (
          <Button variant="outline" onClick={() => setRemoving(true)}>
            <Trash2 aria-hidden="true" className="size-4!" />{' '}
            <span className="max-sm:sr-only">{text.report.remove}</span>
          </Button>
        )}
      </div>
      {removing && (
        <DeleteDialog reference={report.reference} onClose={() => setRemoving(false)} onDeleted={onDeleted} />
      )}
    </div>
  );
}

function Triage({ report, staff, onChanged }: { report: Report; staff: Member[]; onChanged: () => void }) {
  const text = useText();
  const { id: me } = useAccess();
  const set = async (change: Change, done: string) => {
    await attempt(text, () => changeReport(report.id, change), done);
    onChanged();
  };
  return (
    <div className="no-print bg-card flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border p-3">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a border and need a legend */}
      <div role="group" aria-label={text.report.statusLabel} className="flex flex-wrap gap-1">
        {statuses.map((status, i) => (
          <StatusButton
            key={status}
            status={status}
            number={i + 1}
            pressed={report.status === status}
            onClick={() => set({ status }, text.report.changed(text.status[status]))}
          />
        ))}
      </div>
      <NativeSelect
        aria-label={text.report.assignee}
        title={text.report.assignee}
        className="w-auto! min-w-36 flex-1 pointer-fine:min-h-9! py-1! sm:max-w-64"
        value={report.assigned_to ?? ''}
        onChange={(e) => set({ assigned_to: e.target.value || null }, text.saved)}
      >
        <option value="">{text.report.unassigned}</option>
        {staff
          .filter((m) => m.role !== 'editor')
          .map((m) => (
            <option key={m.id} value={m.id}>
              {m.id === me ? `${m.name} (${text.you})` : m.name}
            </option>
          ))}
      </NativeSelect>
    </div>
  );
}

function StatusButton({
  status,
  number,
  pressed,
  onClick,
}: {
  status: Status;
  number: number;
  pressed: boolean;
  onClick: () => void;
}) {
  const text = useText();
  return (
    <button
      type="button"
      aria-pressed={pressed}
      aria-keyshortcuts={String(number)}
      onClick={onClick}
      className={cn(
        'flex min-h-11 cursor-pointer items-center gap-2 rounded-md border px-3 text-sm pointer-fine:min-h-9',
        pressed
          ? 'bg-primary text-primary-foreground border-primary font-semibold'
          : 'border-input hover:bg-muted',
      )}
    >
      <span aria-hidden="true" className={cn('font-mono text-xs', !pressed && 'text-muted-foreground')}>
        {number}
      </span>
      {text.status[status]}
    </button>
  );
}

/** A fact without a value is not shown. */
function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <div className="grid grid-cols-[6.5rem_1fr] gap-2 py-0.5">
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}

/** Whether a part of a location is the region or the district of the report, in either language. */
function known({ region, district }: Report, part: string) {
  return regions
    .flatMap((r) => [r, ...r.districts])
    .some(
      (place) =>
        [region, district].includes(place.name) &&
        [place.name, place.somali].some((name) => name.toLowerCase() === part.toLowerCase()),
    );
}

function Facts({ report }: { report: Report }) {
  const { text, language } = useLanguage();
  const place = [report.district, report.region].filter(Boolean).join(', ');
  // The picker's own words are the place; a part that a visitor typed is shown as well.
  const typed = (report.location ?? '').split(',').some((part) => part.trim() && !known(report, part.trim()));
  return (
    <Panel>
      <div className="grid gap-x-8 gap-y-3 sm:grid-cols-2 print:grid-cols-2">
        <div>
          <h2 className="mb-1">{text.report.product}</h2>
          <dl>
            <Fact name={text.report.batch}>{report.batch_number}</Fact>
            <Fact name={text.report.expiry}>
              {report.expiry_date && shortDay(language, report.expiry_date)}
            </Fact>
            <Fact name={text.report.bought}>{report.where_bought}</Fact>
            <Fact name={text.report.place}>
              {place || (!typed && text.inbox.noRegion)}
              {typed && <span className="block">{report.location}</span>}
            </Fact>
          </dl>
        </div>
        <Person report={report} />
      </div>
    </Panel>
  );
}

function Person({ report }: { report: Report }) {
  const text = useText();
  const number = report.phone_e164;
  const link =
    'bg-card border-input hover:bg-muted inline-flex min-h-11 items-center gap-2 rounded-lg border px-3 text-sm font-semibold pointer-fine:min-h-9';
  return (
    <div>
      <h2 className="mb-1">{text.report.person}</h2>
      <dl>
        <Fact name={text.report.name}>{report.name ?? text.report.anonymous}</Fact>
        <Fact name={text.report.phone}>
          {report.phone && <span className="font-mono">{number ?? report.phone}</span>}
        </Fact>
        <Fact name={text.report.languageLabel}>{text.report.language[report.language]}</Fact>
      </dl>
      {number && (
        <p className="no-print mt-3 flex gap-2">
          <a className={link} href={`tel:${number}`}>
            <Phone aria-hidden="true" className="size-4" /> {text.report.call}
          </a>
          <a
            className={link}
            href={`https://wa.me/${number.slice(1)}`}
            target="_blank"
            rel="noopener noreferrer"
          >
            {text.report.whatsapp}
          </a>
        </p>
      )}
    </div>
  );
}
