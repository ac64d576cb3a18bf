import type { Row } from '@desk/backend/reports';
import { StatusBadge } from '@desk/components/ui';
import { shortTime, since, useLanguage } from '@desk/i18n/language';
import { Camera, CopyCheck, MessageSquare } from 'lucide-react';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { cn } from '@/components/cn';

const rowHeight = 66;
const spare = 8;

interface Props {
  rows: Row[];
  done: boolean;
  total: number | undefined;
  selected: string | undefined;
  names: Map<string, string>;
  onSelect: (reference: string) => void;
  onStep: (by: number) => void;
  onEnd: () => void;
}

/** A list that draws the rows in view alone, so that 20,000 reports scroll as ten do. */
export function ReportList({ rows, done, total, selected, names, onSelect, onStep, onEnd }: Props) {
  const { text } = useLanguage();
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const first = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + spare);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);

  useEffect(() => {
    if (!done && rows.length > 0 && last >= rows.length - 5) onEnd();
  }, [done, last, rows.length, onEnd]);

  const index = rows.findIndex((row) => row.reference === selected);
  useEffect(() => {
    const element = box.current;
    if (!element || index < 0) return;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [index]);

  return (
    <div
      ref={box}
      role="listbox"
      tabIndex={0}
      aria-label={text.inbox.title}
      aria-activedescendant={index >= first && index < last ? `row-${rows[index]?.id}` : undefined}
      onKeyDown={(event) => {
        const by = stepOf(event, Math.floor(view.height / rowHeight));
        if (!by) return;
        event.preventDefault();
        onStep(by);
      }}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
    >
      <div className="relative" role="presentation" style={{ height: rows.length * rowHeight }}>
        {rows.slice(first, last).map((row, i) => (
          <ListRow
            key={row.id}
            row={row}
            position={first + i}
            total={total ?? rows.length}
            current={row.reference === selected}
            assignee={row.assigned_to ? (names.get(row.assigned_to) ?? text.unknown) : ''}
            onSelect={onSelect}
          />
        ))}
      </div>
    </div>
  );
}

/** Returns by how many rows a key moves the choice in the list, or undefined. Where a report takes the place of the list, keys scroll. */
function stepOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, page: number) {
  if (ctrlKey || metaKey || altKey || !matchMedia('(min-width: 64rem)').matches) return undefined;
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  };
  return steps[key];
}

interface RowProps {
  row: Row;
  position: number;
  total: number;
  current: boolean;
  assignee: string;
  onSelect: (reference: string) => void;
}

function ListRow({ row, position, total, current, assignee, onSelect }: RowProps) {
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
