import { listStaff, listTrail, type TrailRow } from '@desk/backend/staff';
import { Button, Failure, Field, Input, Loading, NativeSelect, ScreenHead } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import type { Text } from '@desk/i18n/en';
import { shortTime, useLanguage, useText } from '@desk/i18n/language';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import { trailDetails } from './trail-details';

type Filter = Parameters<typeof listTrail>[0];

/** Who did what, newest first. */
export default function Trail() {
  const text = useText();
  const [filter, setFilter] = useState<Filter>({});
  const [rows, setRows] = useState<TrailRow[]>();
  const [done, setDone] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = useRef(0);
  const load = async (wanted: Filter, before?: number) => {
    const mine = ++run.current;
    try {
      const page = await listTrail(wanted, before);
      if (mine !== run.current) return;
      setRows((old) => (before ? [...(old ?? []), ...page] : page));
      setDone(page.length < 100);
      setError(undefined);
    } catch (failure) {
      if (mine === run.current) setError(failure);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: load changes with every drawing, and uses nothing that changes
  useEffect(() => {
    const timer = setTimeout(() => load(filter), 200);
    return () => clearTimeout(timer);
  }, [filter]);
  return (
    <div className="mx-auto max-w-5xl">
      <ScreenHead title={text.trail.title} />
      <p className="text-muted-foreground mb-4 text-pretty">{text.trail.intro}</p>
      <TrailFilter filter={filter} onChange={setFilter} />
      {error !== undefined && <Failure error={error} retry={() => load(filter)} />}
      {!rows && !error && <Loading />}
      {rows?.length === 0 && <p>{text.trail.empty}</p>}
      {rows && rows.length > 0 && <Lines rows={rows} />}
      {rows && !done && (
        <Button variant="outline" className="mt-3" onClick={() => load(filter, rows.at(-1)?.id)}>
          {text.trail.older}
        </Button>
      )}
    </div>
  );
}

function TrailFilter({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const text = useText();
  const small = 'pointer-fine:min-h-9! py-1!';
  return (
    <div className="mb-4 grid gap-3 sm:grid-cols-3">
      <Field label={text.trail.who}>
        {(props) => (
          <Input
            {...props}
            className={small}
            value={filter.name ?? ''}
            onChange={(e) => onChange({ ...filter, name: e.target.value || undefined })}
          />
        )}
      </Field>
      <Field label={text.trail.action}>
        {(props) => (
          <NativeSelect
            {...props}
            className={small}
            value={filter.action ?? ''}
            onChange={(e) => onChange({ ...filter, action: e.target.value || undefined })}
          >
            <option value="">{text.all}</option>
            {Object.entries(text.trail.actions).map(([key, name]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <Field label={text.trail.subject}>
        {(props) => (
          <NativeSelect
            {...props}
            className={small}
            value={filter.subject ?? ''}
            onChange={(e) => onChange({ ...filter, subject: e.target.value || undefined })}
          >
            <option value="">{text.all}</option>
            {Object.entries(text.trail.subjects).map(([key, name]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
    </div>
  );
}

function Lines({ rows }: { rows: TrailRow[] }) {
  const { text, language } = useLanguage();
  const staff = useLoad(listStaff, 'staff');
  const names = new Map((staff.data ?? []).map((m) => [m.id, m.name]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by the arrow keys
    <section className="bg-card overflow-x-auto rounded-lg border" tabIndex={0} aria-label={text.trail.title}>
      <table className="w-full text-sm">
        <thead className="max-sm:sr-only">
          <tr className="text-muted-foreground border-b text-start">
            {[text.trail.when, text.trail.who, text.trail.what, text.trail.detail].map((name) => (
              <th key={name} className="px-3 py-1.5 text-start font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className="border-b last:border-0 max-sm:flex max-sm:flex-wrap max-sm:py-1">
              <td className="text-muted-foreground px-3 py-1.5 whitespace-nowrap max-sm:order-1 max-sm:ms-auto max-sm:py-0.5">
                {shortTime(language, row.at)}
              </td>
              <td className="px-3 py-1.5 wrap-anywhere max-sm:py-0.5">{row.actor_name}</td>
              <td className="px-3 py-1.5 max-sm:order-2 max-sm:basis-full max-sm:py-0.5">
                {text.trail.actions[row.action as keyof Text['trail']['actions']] ?? row.action}{' '}
                {text.trail.subjects[row.subject as keyof Text['trail']['subjects']] ?? row.subject}{' '}
                <Subject row={row} />
              </td>
              <td className="text-muted-foreground px-3 py-1.5 wrap-anywhere max-sm:order-3 max-sm:basis-full max-sm:py-0 max-sm:empty:hidden">
                {trailDetails(row.detail, language, text, names)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Subject({ row }: { row: TrailRow }) {
  if (row.subject === 'report' && row.subject_name && row.action !== 'delete') {
    return (
      <Link className="text-primary font-mono underline" to={`/reports/${row.subject_name}`}>
        {row.subject_name}
      </Link>
    );
  }
  return <span className={row.subject === 'report' ? 'font-mono' : ''}>{row.subject_name}</span>;
}
