import type { Row } from '@desk/backend/reports';
import { useColleagues } from '@desk/cases/use-colleagues';
import { StatusBadge } from '@desk/components/status-badge';
import { shortTime, since } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { today } from '@desk/lib/local-day';
import { CalendarClock, Camera, CopyCheck, Eye, type LucideIcon, MessageSquare, Mic } from 'lucide-react';
import { cn } from '@/components/cn';
import { rowHeight } from './rows-in-view';

interface Props {
  report: Row;
  position: number;
  total: number;
  current: boolean;
  assignee: string;
  checked: ReadonlySet<string>;
  onCheck: (id: string) => void;
  onSelect: (reference: string) => void;
}

/** A report in the list. A click at its edge checks it. */
export function ListRow({ report, position, total, current, assignee, checked, onCheck, onSelect }: Props) {
  const { text, language } = useLanguage();
  const on = checked.has(report.id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      id={`row-${report.id}`}
      role="option"
      tabIndex={-1}
      aria-selected={current}
      aria-checked={on}
      aria-posinset={position + 1}
      aria-setsize={total}
      onClick={(e) =>
        (e.target as Element).closest('[data-check]') ? onCheck(report.id) : onSelect(report.reference)
      }
      style={{ top: position * rowHeight, height: rowHeight }}
      className={cn(
        'absolute inset-x-0 flex cursor-pointer border-b pe-3',
        current ? 'bg-primary-soft' : 'hover:bg-muted',
      )}
    >
      <span data-check title={text.inbox.check} className="grid w-8 shrink-0 place-items-center">
        <span
          aria-hidden="true"
          className={cn(
            'size-4 rounded border text-center text-xs leading-3.5',
            on ? 'bg-primary text-primary-foreground border-primary' : 'border-input',
          )}
        >
          {on && '✓'}
        </span>
      </span>
      <div className="flex min-w-0 flex-1 flex-col justify-center gap-1">
        <div className="flex items-center gap-2">
          <span className={cn('min-w-0 flex-1 truncate', report.status === 'new' && 'font-semibold')}>
            {report.product_name}
          </span>
          <Marks report={report} />
          <time
            dateTime={report.created_at}
            title={shortTime(language, report.created_at)}
            className="text-muted-foreground w-12 shrink-0 text-end text-xs whitespace-nowrap"
          >
            {since(report.created_at)}
          </time>
        </div>
        <div className="text-muted-foreground flex items-center gap-2 text-xs">
          <StatusBadge status={report.status} />
          {report.priority !== 'normal' && (
            <span className="text-henna font-semibold whitespace-nowrap">
              {text.priority[report.priority]}
            </span>
          )}
          {(report.seriousness?.length ?? 0) > 0 && (
            <span className="text-destructive font-semibold whitespace-nowrap">
              {text.seriousness.serious}
            </span>
          )}
          <span className="truncate">{report.region ?? text.inbox.noRegion}</span>
          {assignee && <span className="truncate">· {assignee}</span>}
          <span className="ms-auto font-mono whitespace-nowrap">{report.reference}</span>
        </div>
      </div>
    </div>
  );
}

/** What stands out about a report: who has it open, its due date, a copy, a photo, voice messages, notes. */
function Marks({ report }: { report: Row }) {
  const { text } = useLanguage();
  const readers = useColleagues(report.reference).join(', ');
  const open = report.status === 'new' || report.status === 'reviewing';
  return (
    <>
      {readers && (
        <Eye role="img" aria-label={text.inbox.openAt(readers)} className="text-new size-4 shrink-0" />
      )}
      {open && report.due_on && report.due_on < today() && (
        <CalendarClock
          role="img"
          aria-label={text.inbox.overdue}
          className="text-destructive size-4 shrink-0"
        />
      )}
      {report.possible_duplicate && (
        <CopyCheck role="img" aria-label={text.inbox.duplicate} className="text-henna size-4 shrink-0" />
      )}
      {report.has_photo && (
        <Camera
          role="img"
          aria-label={text.inbox.hasPhoto}
          className="text-muted-foreground size-4 shrink-0"
        />
      )}
      <Count icon={Mic} n={report.voice_messages} name={text.inbox.voice} />
      <Count icon={MessageSquare} n={report.notes} name={text.inbox.notes} />
    </>
  );
}

function Count({ icon: Icon, n, name }: { icon: LucideIcon; n: number; name: (n: number) => string }) {
  if (n === 0) return null;
  return (
    <span title={name(n)} className="text-muted-foreground flex shrink-0 items-center gap-0.5 text-xs">
      <Icon aria-hidden="true" className="size-3.5" />
      <span aria-hidden="true">{n}</span>
      <span className="sr-only">{name(n)}</span>
    </span>
  );
}
