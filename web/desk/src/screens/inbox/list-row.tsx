import type { Row } from '@desk/backend/reports';
import { StatusBadge } from '@desk/components/status-badge';
import { shortTime, since } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { Camera, CopyCheck, MessageSquare } from 'lucide-react';
import { cn } from '@/components/cn';
import { rowHeight } from './rows-in-view';

interface Props {
  row: Row;
  position: number;
  total: number;
  current: boolean;
  assignee: string;
  onSelect: (reference: string) => void;
}

/** A report in the list. */
export function ListRow({ row, position, total, current, assignee, onSelect }: Props) {
  const { text, language } = useLanguage();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      id={`row-${row.id}`}
      role="option"
      tabIndex={-1}
      aria-selected={current}
      aria-posinset={position + 1}
      aria-setsize={total}
      onClick={() => onSelect(row.reference)}
      style={{ top: position * rowHeight, height: rowHeight }}
      className={cn(
        'absolute inset-x-0 flex cursor-pointer flex-col justify-center gap-1 border-b px-3',
        current ? 'bg-primary-soft' : 'hover:bg-muted',
      )}
    >
      <div className="flex items-center gap-2">
        <span className={cn('min-w-0 flex-1 truncate', row.status === 'new' && 'font-semibold')}>
          {row.product_name}
        </span>
        {row.possible_duplicate && (
          <CopyCheck role="img" aria-label={text.inbox.duplicate} className="text-henna size-4 shrink-0" />
        )}
        {row.has_photo && (
          <Camera
            role="img"
            aria-label={text.inbox.hasPhoto}
            className="text-muted-foreground size-4 shrink-0"
          />
        )}
        {row.notes > 0 && (
          <span className="text-muted-foreground flex shrink-0 items-center gap-0.5 text-xs">
            <MessageSquare aria-hidden="true" className="size-3.5" />
            <span aria-hidden="true">{row.notes}</span>
            <span className="sr-only">{text.inbox.notes(row.notes)}</span>
          </span>
        )}
        <time
          dateTime={row.created_at}
          title={shortTime(language, row.created_at)}
          className="text-muted-foreground w-12 shrink-0 text-end text-xs whitespace-nowrap"
        >
          {since(row.created_at)}
        </time>
      </div>
      <div className="text-muted-foreground flex items-center gap-2 text-xs">
        <StatusBadge status={row.status} />
        <span className="truncate">{row.region ?? text.inbox.noRegion}</span>
        {assignee && <span className="truncate">· {assignee}</span>}
        <span className="ms-auto font-mono whitespace-nowrap">{row.reference}</span>
      </div>
    </div>
  );
}
