import { type Filter, type Status, statuses } from '@desk/backend/reports';
import { Button, Field, Input, NativeSelect } from '@desk/components/ui';
import { digits, useText } from '@desk/i18n/language';
import { SlidersHorizontal } from 'lucide-react';
import { type RefObject, useEffect, useState } from 'react';
import { cn } from '@/components/cn';
import { regions } from '@/content/regions';

interface Props {
  filter: Filter;
  counts: Partial<Record<Status, number>> | undefined;
  search: RefObject<HTMLInputElement | null>;
  onChange: (filter: Filter) => void;
}

/** Search, the tabs of the statuses with their numbers, and further filters. */
export function Filters({ filter, counts, search, onChange }: Props) {
  const text = useText();
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState(filter.search ?? '');
  const extra = [filter.region, filter.product, filter.since, filter.until, filter.photo, filter.mine].filter(
    Boolean,
  ).length;

  useEffect(() => {
    if ((filter.search ?? '') === words.trim()) return;
    const timer = setTimeout(() => onChange({ ...filter, search: words.trim() || undefined }), 250);
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
          className="pointer-fine:min-h-9! py-1!"
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
            count={countOf(counts, status)}
            pressed={status ? filter.status?.[0] === status : !filter.status}
            onClick={() => onChange({ ...filter, status: status && [status] })}
          />
        ))}
      </div>
      {open && <More filter={filter} onChange={onChange} />}
    </div>
  );
}

function countOf(counts: Props['counts'], status: Status | undefined) {
  if (!counts) return undefined;
  return status ? (counts[status] ?? 0) : Object.values(counts).reduce((sum, n) => sum + n, 0);
}

function StatusTab({
  label,
  count,
  pressed,
  onClick,
}: {
  label: string;
  count: number | undefined;
  pressed: boolean;
  onClick: () => void;
}) {
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

function More({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const text = useText();
  const set = (change: Partial<Filter>) => onChange({ ...filter, ...change });
  const small = 'pointer-fine:min-h-9! py-1!';
  return (
    <div className="grid grid-cols-2 gap-2">
      <Field label={text.inbox.region}>
        {(props) => (
          <NativeSelect
            {...props}
            className={small}
            value={filter.region ?? ''}
            onChange={(e) => set({ region: e.target.value || undefined })}
          >
            <option value="">{text.inbox.everyRegion}</option>
            {regions.map((region) => (
              <option key={region.name}>{region.name}</option>
            ))}
            <option value="-">{text.inbox.noRegion}</option>
          </NativeSelect>
        )}
      </Field>
      <Field label={text.inbox.product}>
        {(props) => (
          <Input
            {...props}
            className={small}
            defaultValue={filter.product ?? ''}
            onBlur={(e) => set({ product: e.target.value.trim() || undefined })}
            onKeyDown={(e) =>
              e.key === 'Enter' && set({ product: e.currentTarget.value.trim() || undefined })
            }
          />
        )}
      </Field>
      <Field label={text.inbox.since}>
        {(props) => (
          <Input
            {...props}
            type="date"
            className={small}
            value={filter.since?.slice(0, 10) ?? ''}
            onChange={(e) => set({ since: day(e.target.value, 0) })}
          />
        )}
      </Field>
      <Field label={text.inbox.until}>
        {(props) => (
          <Input
            {...props}
            type="date"
            className={small}
            value={before(filter.until)}
            onChange={(e) => set({ until: day(e.target.value, 1) })}
          />
        )}
      </Field>
      <Toggle
        label={text.inbox.photo}
        checked={filter.photo === true}
        onChange={(on) => set({ photo: on || undefined })}
      />
      <Toggle
        label={text.inbox.mine}
        checked={filter.mine === true}
        onChange={(on) => set({ mine: on || undefined })}
      />
      <Button
        variant="link"
        className="col-span-2 justify-self-start"
        onClick={() => onChange({ status: filter.status, search: filter.search })}
      >
        {text.inbox.clear}
      </Button>
    </div>
  );
}

function Toggle({
  label,
  checked,
  onChange,
}: {
  label: string;
  checked: boolean;
  onChange: (on: true | false) => void;
}) {
  return (
    <label className="flex min-h-9 items-center gap-2">
      <input
        type="checkbox"
        className="accent-primary size-4 shrink-0"
        checked={checked}
        onChange={(e) => onChange(e.target.checked)}
      />
      {label}
    </label>
  );
}

/** Returns the start of a day of this place, and with plus the start of the next one. */
function day(value: string, plus: number) {
  if (!value) return undefined;
  const date = new Date(`${value}T00:00`);
  date.setDate(date.getDate() + plus);
  return `${local(date)}T00:00:00${offset(date)}`;
}

function before(until: string | undefined) {
  if (!until) return '';
  const date = new Date(until);
  date.setDate(date.getDate() - 1);
  return local(date);
}

const two = (n: number) => String(n).padStart(2, '0');
const local = (d: Date) => `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
function offset(d: Date) {
  const minutes = -d.getTimezoneOffset();
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}
