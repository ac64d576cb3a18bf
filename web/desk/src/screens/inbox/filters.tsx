import type { Filter } from '@desk/backend/reports';
import { Button } from '@desk/components/button';
import { dense } from '@desk/components/field';
import { digits } from '@desk/i18n/format';
import { useText } from '@desk/i18n/language';
import { type StatusCounts, statuses } from '@desk/lib/status';
import { Search, SlidersHorizontal } from 'lucide-react';
import { type FormEvent, type RefObject, useEffect, useState } from 'react';
import { cn } from '@/components/cn';
import { Input } from '@/components/ui/input';
import { countOf } from './counts';
import { moreFilters, withSearch } from './filter';
import { MoreFilters } from './more-filters';
import { Views } from './views';

interface Props {
  filter: Filter;
  counts: StatusCounts | undefined;
  search: RefObject<HTMLInputElement | null>;
  onChange: (filter: Filter) => void;
}

/** Search, the views, the tabs of the statuses with their numbers, and further filters. */
export function Filters({ filter, counts, search, onChange }: Props) {
  const text = useText();
  const [open, setOpen] = useState(false);
  const extra = moreFilters(filter);
  return (
    <div className="flex flex-col gap-2 border-b p-2">
      <div className="flex gap-2">
        <SearchField filter={filter} field={search} onChange={onChange} />
        <Button variant={extra ? 'default' : 'outline'} aria-expanded={open} onClick={() => setOpen(!open)}>
          <SlidersHorizontal aria-hidden="true" className="size-4!" />
          <span className="max-sm:sr-only">{text.inbox.filters}</span>
          {extra > 0 && <span>{extra}</span>}
        </Button>
      </div>
      <Views filter={filter} onChange={onChange} />
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

/** The words are searched at Enter, not while they are typed: each search leaves a line in the trail. */
function SearchField({
  filter,
  field,
  onChange,
}: Omit<Props, 'counts' | 'search'> & { field: Props['search'] }) {
  const text = useText();
  const [words, setWords] = useState(filter.search ?? '');
  useEffect(() => setWords(filter.search ?? ''), [filter.search]);
  const run = (typed: string) => {
    const next = withSearch(filter, typed);
    if (next) onChange(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(words);
  };
  return (
    <search className="min-w-0 flex-1">
      <form onSubmit={submit} className="flex gap-1">
        <Input
          ref={field}
          type="search"
          aria-label={text.inbox.search}
          placeholder={text.inbox.find}
          title={text.inbox.search}
          value={words}
          onChange={(e) => {
            setWords(e.target.value);
            if (!e.target.value) run('');
          }}
          onKeyDown={(e) => e.key === 'Escape' && e.currentTarget.blur()}
          className={dense}
        />
        <Button type="submit" variant="outline" aria-label={text.inbox.find}>
          <Search aria-hidden="true" className="size-4!" />
        </Button>
      </form>
    </search>
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
