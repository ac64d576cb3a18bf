import type { Filter } from '@desk/backend/reports';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { useText } from '@desk/i18n/language';
import { type RefObject, useEffect } from 'react';
import { countOf, inboxTitle } from './counts';
import { EmptyList } from './empty-list';
import { ReportList } from './report-list';
import type { Inbox } from './use-inbox';

interface Props {
  inbox: Inbox;
  list: RefObject<HTMLDivElement | null>;
  filter: Filter;
  selected: string | undefined;
  checked: ReadonlySet<string>;
  onCheck: (id: string) => void;
  onSelect: (reference: string) => void;
  onStep: (steps: number) => void;
  onRearrange: () => void;
  onShowAll: () => void;
}

/** The reports of a filter and their number, or why there are none. */
export function ListBody({ inbox, filter, onRearrange, onShowAll, ...list }: Props) {
  const text = useText();
  const total = countOf(inbox.counts, filter.status);
  useEffect(() => {
    document.title = inboxTitle(inbox.counts, text.nav.reports);
  }, [inbox.counts, text]);
  return (
    <>
      {inbox.error !== undefined && (
        <div className="p-2">
          <Failure error={inbox.error} retry={inbox.refresh} />
        </div>
      )}
      <div role="status">
        {inbox.arrived > 0 && (
          <button
            type="button"
            aria-keyshortcuts="r"
            onClick={onRearrange}
            className="bg-new-soft text-new min-h-9 w-full cursor-pointer border-b px-3 text-sm font-semibold"
          >
            {text.inbox.arrived(inbox.arrived)}
          </button>
        )}
      </div>
      {inbox.rows.length > 0 ? (
        <ReportList rows={inbox.rows} done={inbox.done} total={total} onEnd={inbox.more} {...list} />
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
