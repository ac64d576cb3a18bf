import type { Filter } from '@desk/backend/reports';
import { Button } from '@desk/components/button';
import { dense } from '@desk/components/field';
import { digits } from '@desk/i18n/format';
import { useText } from '@desk/i18n/language';
import { type StatusCounts, statuses } from '@desk/lib/status';
import { SlidersHorizontal } from 'lucide-react';
import { type RefObject, useEffect, useState } from 'react';
import { cn } from '@/components/cn';
import { Input } from '@/components/ui/input';
import { countOf } from './counts';
import { moreFilters, withSearch } from './filter';
import { MoreFilters } from './more-filters';

interface Props {
  filter: Filter;
  counts: StatusCounts | undefined;
  search: RefObject<HTMLInputElement | null>;
  onChange: (filter: Filter) => void;
}

/** Search, the tabs of the statuses with their numbers, and further filters. */
export function Filters({ filter, counts, search, onChange }: Props) {
  const text = useText();
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState(filter.search ?? '');
  const extra = moreFilters(filter);

  useEffect(() => {
    const next = withSearch(filter, words);
    if (!next) return;
    const timer = setTimeout(() => onChange(next), 250);
    return () => clearTimeout(timer);
  }, [words, filter, onChange]);

  return (
    <div className="flex flex-col gap-2 border-b p-2">
      <div className="flex gap-2">
        <Input
          ref={search}
          type="search"
          aria-label={text.inbox.search}
          placeholder={text.inbox.find}
          title={text.inbox.search}
          value={words}
          onChange={(e) => setWords(e.target.value)}
          onKeyDown={(e) => e.key === 'Escape' && e.currentTarget.blur()}
          className={dense}
        />
        <Button variant={extra ? 'default' : 'outline'} aria-expanded={open} onClick={() => setOpen(!open)}>
          <SlidersHorizontal aria-hidden="true" className="size-4!" />
          <span className="max-sm:sr-only">{text.inbox.filters}</span>
          {extra > 0 && <span>{extra}</span>}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a border and need a legend */}
      <div role="group" aria-label={text.report.statusLabel} className="flex flex-wrap gap-1">
        {[undefined, ...statuses].map((status) => (
          <StatusTab
            key={status ?? 'all'}
            label={status ? text.status[status] : text.all}
            count={countOf(counts, status && [status])}
            pressed={status ? filter.status?.[0] === status : !filter.status}
            onClick={() => onChange({ ...filter, status: status && [status] })}
          />
        ))}
      </div>
      {open && <MoreFilters filter={filter} onChange={onChange} />}
    </div>
  );
}

interface TabProps {
  label: string;
  count: number | undefined;
  pressed: boolean;
  onClick: () => void;
}

function StatusTab({ label, count, pressed, onClick }: TabProps) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onClick}
      className={cn(
        'flex min-h-9 cursor-pointer items-center gap-1.5 rounded-md px-2 text-sm pointer-fine:min-h-7',
        pressed ? 'bg-primary text-primary-foreground' : 'hover:bg-muted',
      )}
    >
      {label}
      {count !== undefined && (
        <span className={cn('text-xs', !pressed && 'text-muted-foreground')}>{digits(count)}</span>
      )}
    </button>
  );
}
