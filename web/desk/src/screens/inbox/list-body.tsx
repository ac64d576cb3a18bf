import type { Filter } from '@desk/backend/reports';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { useText } from '@desk/i18n/language';
import { useEffect } from 'react';
import { countOf, inboxTitle } from './counts';
import { EmptyList } from './empty-list';
import { ReportList } from './report-list';
import type { Inbox } from './use-inbox';

interface Props {
  inbox: Inbox;
  filter: Filter;
  selected: string | undefined;
  names: Map<string, string>;
  onSelect: (reference: string) => void;
  onStep: (steps: number) => void;
  onShowAll: () => void;
}

/** The reports of a filter and their number, or why there are none. */
export function ListBody({ inbox, filter, selected, names, onSelect, onStep, onShowAll }: Props) {
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
