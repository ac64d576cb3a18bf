import type { Change } from '@desk/backend/change-reports';
import type { Row } from '@desk/backend/reports';
import { ReportChanges, useChanges } from '@desk/cases/changes';
import { Dialog } from '@desk/components/dialog';
import { useText } from '@desk/i18n/language';
import { type RefObject, useCallback, useRef, useState } from 'react';
import { useParams } from 'react-router-dom';
import { cn } from '@/components/cn';
import { BulkBar } from './bulk-bar';
import { Filters } from './filters';
import { useInboxKeys } from './inbox-keys';
import { KeyHelp } from './key-help';
import { ListBody } from './list-body';
import { ListHead } from './list-head';
import { ReportPane } from './report/report-pane';
import { useFilter } from './use-filter';
import { type Inbox as InboxState, useInbox } from './use-inbox';

/** Reports whether rows of a list may move: nothing is chosen, and no pointer or key is at work in it. */
function isIdle(list: HTMLElement | null) {
  if (!list) return true;
  return (
    list.scrollTop === 0 &&
    matchMedia('(hover: hover)').matches &&
    !list.matches(':hover') &&
    !list.contains(document.activeElement)
  );
}

export function Inbox() {
  const { reference } = useParams();
  const { filter, setFilter, open } = useFilter();
  const list = useRef<HTMLDivElement>(null);
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set());
  const inbox = useInbox(filter, () => !reference && checked.size === 0 && isIdle(list.current));
  return (
    <ReportChanges>
      <Panes
        inbox={inbox}
        reference={reference}
        list={list}
        filter={filter}
        setFilter={setFilter}
        open={open}
        checked={checked}
        setChecked={setChecked}
      />
    </ReportChanges>
  );
}

interface Props extends ReturnType<typeof useFilter> {
  inbox: InboxState;
  reference: string | undefined;
  list: RefObject<HTMLDivElement | null>;
  checked: ReadonlySet<string>;
  setChecked: (checked: ReadonlySet<string>) => void;
}

/** The list and the report. On small screens one of the two. */
function Panes({ inbox, reference, list, filter, setFilter, open, checked, setChecked }: Props) {
  const text = useText();
  const { change, undo } = useChanges();
  const search = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  const close = useCallback(() => open(undefined), [open]);
  const apply = (row: Row, set: Change, done: string) => {
    inbox.patch(row.id, set as Partial<Row>);
    void change([row], set, done);
  };
  const check = (id: string) => {
    const next = new Set(checked);
    if (!next.delete(id)) next.add(id);
    setChecked(next);
  };
  const rearrange = () => {
    if (list.current) list.current.scrollTop = 0;
    inbox.rearrange();
  };
  const step = useInboxKeys({
    rows: inbox.rows,
    open,
    apply,
    check,
    undo,
    rearrange,
    focusSearch: () => search.current?.focus(),
    help: () => setHelp(true),
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
        <ListHead inbox={inbox} onHelp={() => setHelp(true)} onRefresh={rearrange} />
        <Filters filter={filter} counts={inbox.counts} search={search} onChange={setFilter} />
        {checked.size > 0 && (
          <BulkBar
            rows={inbox.rows.filter((row) => checked.has(row.id))}
            onDone={() => setChecked(new Set())}
          />
        )}
        <ListBody
          inbox={inbox}
          list={list}
          filter={filter}
          selected={reference}
          checked={checked}
          onCheck={check}
          onSelect={open}
          onStep={step}
          onRearrange={rearrange}
          onShowAll={() => setFilter({})}
        />
      </section>
      <section
        className={cn('min-w-0 flex-1 overflow-y-auto', !reference && 'hidden lg:block')}
        aria-label={reference}
      >
        {reference ? (
          <ReportPane key={reference} reference={reference} onBack={close} />
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
