import {
  type Change,
  changeReport,
  type Filter,
  type Row,
  type Status,
  statuses,
} from '@desk/backend/reports';
import { listStaff } from '@desk/backend/staff';
import { attempt } from '@desk/components/toast';
import { Button, Dialog, Failure, Loading } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session-gate';
import { Keyboard, RefreshCw } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useNavigate, useParams } from 'react-router-dom';
import { cn } from '@/components/cn';
import { Filters } from './filters';
import { ReportList } from './report-list';
import { ReportPane } from './report-pane';
import { type Inbox as InboxState, useInbox } from './use-inbox';
import { useKeys } from './use-keys';

/** The list of reports and, beside it, the chosen one. On small screens one of the two. */
export function Inbox() {
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

  const apply = async (change: (row: Row) => Change, done: string) => {
    const row = inbox.rows[chosenIndex(inbox.rows)];
    if (!row) return;
    const values = change(row);
    inbox.patch(row.id, values as Partial<Row>);
    await attempt(text, () => changeReport(row.id, values), done);
    inbox.refresh();
    setChanged(({ times }) => ({ reference: row.reference, times: times + 1 }));
  };
  const step = (by: number) => {
    const next = chosenIndex(inbox.rows) + by; // -1 if none is chosen
    const row = inbox.rows[Math.min(inbox.rows.length - 1, Math.max(0, next))];
    if (row) open(row.reference);
  };
  const close = () => navigate('/reports', { replace: true });
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ...Object.fromEntries(
      statuses.map((status, i) => [
        String(i + 1),
        () => apply(() => ({ status }), text.report.changed(text.status[status])),
      ]),
    ),
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

/**
 * Returns the index of the chosen report, or -1. The address has it at once, the screen some moments later: a key that is
 * pressed in between must not change the report before.
 */
function chosenIndex(rows: Row[]) {
  const reference = /^#\/reports\/([^/?]+)/.exec(window.location.hash)?.[1];
  return rows.findIndex((row) => row.reference === reference);
}

function ListHead({ inbox, onHelp }: { inbox: InboxState; onHelp: () => void }) {
  const text = useText();
  return (
    <div className="flex items-center gap-2 border-b px-3 py-1.5">
      <h1 className="flex-1 text-lg">{text.inbox.title}</h1>
      <LiveMark live={inbox.live} />
      <Button variant="ghost" aria-label={text.inbox.keys} onClick={onHelp} className="max-lg:hidden">
        <Keyboard aria-hidden="true" className="size-4.5!" />
      </Button>
      <Button variant="ghost" aria-label={text.refresh} disabled={inbox.loading} onClick={inbox.refresh}>
        <RefreshCw
          aria-hidden="true"
          className={cn('size-4.5!', inbox.loading && 'motion-safe:animate-spin')}
        />
      </Button>
    </div>
  );
}

function KeyHelp() {
  const text = useText();
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
      {text.inbox.keyHelp.map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="bg-muted rounded px-1.5 font-mono text-sm whitespace-pre">{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}

function LiveMark({ live }: { live: boolean }) {
  const text = useText();
  const label = live ? text.inbox.live : text.inbox.notLive;
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={cn('size-2 rounded-full', live ? 'bg-done' : 'border-input border')}
    />
  );
}

interface BodyProps {
  inbox: InboxState;
  filter: Filter;
  selected: string | undefined;
  names: Map<string, string>;
  onSelect: (reference: string) => void;
  onStep: (by: number) => void;
  onShowAll: () => void;
}

function ListBody({ inbox, filter, selected, names, onSelect, onStep, onShowAll }: BodyProps) {
  const text = useText();
  const total = useTotal(inbox, filter);
  useAnnounceNew(inbox);
  return (
    <>
      {inbox.error !== undefined && (
        <div className="p-2">
          <Failure error={inbox.error} retry={inbox.refresh} />
        </div>
      )}
      {inbox.rows.length > 0 ? (
        <ReportList
          rows={inbox.rows}
          done={inbox.done}
          total={total}
          selected={selected}
          names={names}
          onSelect={onSelect}
          onStep={onStep}
          onEnd={inbox.more}
        />
      ) : inbox.loading ? (
        <Loading />
      ) : (
        inbox.error === undefined && <EmptyList filter={filter} onShowAll={onShowAll} />
      )}
      <p className="text-muted-foreground border-t px-3 py-1 text-xs" role="status">
        {total !== undefined && text.inbox.count(total)}
      </p>
    </>
  );
}

/** Says why the list is empty, and offers the way back to all reports. */
function EmptyList({ filter, onShowAll }: { filter: Filter; onShowAll: () => void }) {
  const text = useText();
  const { status, ...others } = filter;
  const filtered = Object.values(others).some(Boolean);
  const words = filtered || (status && status[0] !== 'new') ? text.inbox.empty : text.inbox.emptyNew;
  return (
    <div className="text-muted-foreground flex flex-1 flex-col items-center gap-3 px-6 py-10 text-center">
      <p>{status || filtered ? words : text.inbox.none}</p>
      {(status || filtered) && (
        <Button variant="outline" onClick={onShowAll}>
          {text.inbox.clearAll}
        </Button>
      )}
    </div>
  );
}

function useTotal({ counts }: InboxState, filter: Filter) {
  if (!counts) return undefined;
  const wanted: readonly Status[] = filter.status ?? statuses;
  return wanted.reduce<number>((sum, status) => sum + (counts[status] ?? 0), 0);
}

/** Shows the number of new reports in the title of the window, and no word of them. */
function useAnnounceNew({ counts }: InboxState) {
  const text = useText();
  const n = counts?.new ?? 0;
  useEffect(() => {
    document.title = `${n > 0 ? `(${n}) ` : ''}${text.nav.reports} · Daawo`;
  }, [n, text]);
}
