import { type Change, changeReport, type Filter, type Row } from '@desk/backend/reports';
import { listStaff } from '@desk/backend/staff';
import { attempt } from '@desk/components/attempt';
import { Dialog } from '@desk/components/dialog';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { statuses } from '@desk/lib/status';
import { useAccess } from '@desk/session/access';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useNavigate, useParams } from 'react-router-dom';
import { cn } from '@/components/cn';
import { chosenIndex, rowAt } from './chosen-report';
import { Filters } from './filters';
import { KeyHelp } from './key-help';
import { ListBody } from './list-body';
import { ListHead } from './list-head';
import { ReportPane } from './report/report-pane';
import { useInbox } from './use-inbox';
import { useKeys } from './use-keys';

/** The list of reports and, beside it, the chosen one. On small screens one of the two. */
export function InboxScreen() {
  const text = useText();
  const { reference } = useParams();
  const navigate = useNavigate();
  const { id: me } = useAccess();
  const [filter, setFilter] = useState<Filter>({});
  const inbox = useInbox(filter);
  const staff = useLoad(listStaff, 'staff');
  const names = useMemo(() => new Map((staff.data ?? []).map((m) => [m.id, m.name])), [staff.data]);
  const search = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  const [cleared, setCleared] = useState(0);
  const showAll = () => {
    setFilter({});
    setCleared((n) => n + 1);
  };
  const [changed, setChanged] = useState({ reference: '', times: 0 }); // the report that a key has changed last
  const open = useCallback((name: string) => navigate(`/reports/${name}`, { replace: true }), [navigate]);
  const chosen = () => chosenIndex(inbox.rows, window.location.hash);

  const apply = async (change: (row: Row) => Change, done: string) => {
    const row = inbox.rows[chosen()];
    if (!row) return;
    const values = change(row);
    inbox.patch(row.id, values as Partial<Row>);
    await attempt(text, () => changeReport(row.id, values), done);
    inbox.refresh();
    setChanged(({ times }) => ({ reference: row.reference, times: times + 1 }));
  };
  const step = (steps: number) => {
    const row = rowAt(inbox.rows, chosen(), steps);
    if (row) open(row.reference);
  };
  const close = () => navigate('/reports', { replace: true });
  const setStatus = statuses.map((status, i) => [
    String(i + 1),
    () => apply(() => ({ status }), text.report.changed(text.status[status])),
  ]);
  useKeys({
    ...Object.fromEntries(setStatus),
    j: () => step(1),
    k: () => step(-1),
    a: () => apply((row) => ({ assigned_to: row.assigned_to === me ? null : me }), text.saved),
    n: () => document.getElementById('note')?.focus(),
    '/': () => search.current?.focus(),
    '?': () => setHelp(true),
    Escape: close,
  });

  return (
    <div className="flex h-[calc(100dvh-8rem)] gap-4 md:h-[calc(100dvh-2.5rem)] print:h-auto">
      <section
        aria-label={text.inbox.title}
        className={cn(
          'no-print bg-card min-w-0 flex-1 flex-col overflow-hidden rounded-lg border lg:max-w-md xl:max-w-lg',
          reference ? 'hidden lg:flex' : 'flex',
        )}
      >
        <ListHead inbox={inbox} onHelp={() => setHelp(true)} />
        <Filters key={cleared} filter={filter} counts={inbox.counts} search={search} onChange={setFilter} />
        <ListBody
          inbox={inbox}
          filter={filter}
          selected={reference}
          names={names}
          onSelect={open}
          onStep={step}
          onShowAll={showAll}
        />
      </section>
      <section
        className={cn('min-w-0 flex-1 overflow-y-auto', !reference && 'hidden lg:block')}
        aria-label={reference}
      >
        {reference ? (
          <ReportPane
            key={reference}
            reference={reference}
            version={changed.reference === reference ? changed.times : 0}
            staff={staff.data ?? []}
            onChanged={inbox.refresh}
            onBack={close}
          />
        ) : (
          <div className="text-muted-foreground grid h-full place-content-center gap-6 p-6">
            <p>{text.inbox.choose}</p>
            <KeyHelp />
          </div>
        )}
      </section>
      {help && (
        <Dialog title={text.inbox.keys} onClose={() => setHelp(false)}>
          <KeyHelp />
        </Dialog>
      )}
    </div>
  );
}
