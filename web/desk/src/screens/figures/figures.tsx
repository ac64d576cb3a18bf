import { type Figures as Data, type Downloads, readDownloads, readFigures } from '@desk/backend/figures';
import { exportReports, statuses } from '@desk/backend/reports';
import { csv, download } from '@desk/components/csv';
import { attempt } from '@desk/components/toast';
import { Button, Failure, Loading, NativeSelect, Panel, ScreenHead, StatusBadge } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { digits, shortDay, useLanguage, useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session-gate';
import { type ReactNode, useState } from 'react';
import { Bars, Columns } from './bars';
import { RegionMap } from './region-map';
import { outlines } from './region-outlines';

/** Numbers of reports and downloads, without personal data. */
export default function Figures() {
  const text = useText();
  const { role } = useAccess();
  const [months, setMonths] = useState(12);
  const since = new Date(Date.now() - months * 30.44 * 86_400_000).toISOString().slice(0, 10);
  const figures = useLoad(() => readFigures(since), since);
  const downloads = useLoad(() => readDownloads(since), since);
  return (
    <div className="mx-auto max-w-6xl">
      <ScreenHead title={text.figures.title}>
        <NativeSelect
          aria-label={text.figures.period}
          className="w-auto! pointer-fine:min-h-9! py-1!"
          value={months}
          onChange={(e) => setMonths(Number(e.target.value))}
        >
          {[3, 12, 36].map((n) => (
            <option key={n} value={n}>
              {text.figures.months(n)}
            </option>
          ))}
        </NativeSelect>
      </ScreenHead>
      {figures.error ? (
        <Failure error={figures.error} retry={figures.reload} />
      ) : figures.data ? (
        <Reports data={figures.data} since={since}>
          {role === 'owner' && <Export />}
        </Reports>
      ) : (
        <Loading />
      )}
      {downloads.data && downloads.data.length > 0 && <DownloadTable data={downloads.data} />}
    </div>
  );
}

/** The figures of reports in two columns; children end the narrow one. */
function Reports({ data, since, children }: { data: Data; since: string; children: ReactNode }) {
  const { text, language } = useLanguage();
  const { median, p90, waiting } = data.first_action_hours;
  if (data.total === 0)
    return (
      <div className="mb-4 flex flex-col gap-4">
        <Panel className="text-muted-foreground py-10 text-center">{text.figures.empty}</Panel>
        {children}
      </div>
    );
  const save = () =>
    download(
      `figures-${since}.csv`,
      csv([
        [text.figures.week, text.figures.number],
        ...data.weeks,
        [],
        [text.inbox.region, text.figures.number],
        ...Object.entries(data.regions),
        [],
        [text.inbox.product, text.figures.number],
        ...data.products,
      ]),
    );
  return (
    <div className="mb-4 grid items-start gap-4 lg:grid-cols-3">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4 lg:col-span-3">
        <Headline name={text.figures.total} value={digits(data.total)} />
        <Headline name={text.figures.waiting} value={digits(waiting)} />
        <Headline name={text.figures.median} value={median === null ? '–' : text.figures.hours(median)} />
        <Headline name={text.figures.p90} value={p90 === null ? '–' : text.figures.hours(p90)} />
      </dl>
      <div className="flex flex-col gap-4 lg:col-span-2">
        <Panel
          title={text.figures.weeks}
          aside={
            <Button variant="outline" onClick={save}>
              {text.figures.csv}
            </Button>
          }
        >
          <Columns
            label={text.figures.weeks}
            values={everyWeek(data.weeks)}
            name={(week) => `${text.figures.week} ${shortDay(language, week)}`}
          />
        </Panel>
        <Panel title={text.figures.regions}>
          <div className="grid items-start gap-4 sm:grid-cols-2">
            <RegionMap counts={data.regions} />
            <Bars
              label={text.figures.regions}
              values={[...Object.keys(outlines), '-'].map((name) => [
                name === '-' ? text.figures.noRegion : name,
                data.regions[name] ?? 0,
              ])}
            />
          </div>
        </Panel>
      </div>
      <div className="flex flex-col gap-4">
        <Panel title={text.figures.statuses}>
          <ul className="flex flex-col gap-2">
            {statuses.map((status) => (
              <li key={status} className="flex items-center justify-between">
                <StatusBadge status={status} />
                <span className="tabular-nums">{digits(data.statuses[status] ?? 0)}</span>
              </li>
            ))}
          </ul>
        </Panel>
        <Panel title={text.figures.products}>
          <Bars label={text.figures.products} values={data.products} />
          <p className="text-muted-foreground mt-3 text-xs">{text.figures.productsHelp}</p>
        </Panel>
        {children}
      </div>
    </div>
  );
}

/** Adds the weeks without a report between the first and the last. */
function everyWeek(weeks: [string, number][]): [string, number][] {
  const known = new Map(weeks);
  const first = weeks[0]?.[0];
  const last = weeks.at(-1)?.[0];
  if (!first || !last) return [];
  const all: [string, number][] = [];
  for (let day = Date.parse(first); day <= Date.parse(last); day += 7 * 86_400_000) {
    const name = new Date(day).toISOString().slice(0, 10);
    all.push([name, known.get(name) ?? 0]);
  }
  return all;
}

function Headline({ name, value }: { name: string; value: string }) {
  return (
    <div className="bg-card flex flex-col justify-between rounded-lg border p-3">
      <dt className="text-muted-foreground text-xs">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{value}</dd>
    </div>
  );
}

function DownloadTable({ data }: { data: Downloads }) {
  const text = useText();
  const months = [...new Set(data.map(([month]) => month))].sort().slice(-6);
  const titles = [...new Set(data.map(([, title]) => title))];
  const get = (month: string, title: string) => data.find(([m, t]) => m === month && t === title)?.[2] ?? 0;
  const save = () =>
    download(
      'downloads.csv',
      csv([[text.figures.month, text.figures.resource, text.figures.number], ...data]),
    );
  return (
    <Panel
      title={text.figures.downloads}
      className="mb-4"
      aside={
        <Button variant="outline" onClick={save}>
          {text.figures.csv}
        </Button>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by the arrow keys */}
      <section className="overflow-x-auto" tabIndex={0} aria-label={text.figures.downloads}>
        <table className="w-full text-sm tabular-nums">
          <thead>
            <tr className="text-muted-foreground border-b">
              <th className="py-1 pe-3 text-start font-normal">{text.figures.resource}</th>
              {months.map((month) => (
                <th key={month} className="px-2 py-1 text-end font-normal whitespace-nowrap">
                  {month.slice(0, 7)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {titles.map((title) => (
              <tr key={title} className="border-b last:border-0">
                <th scope="row" className="py-1 pe-3 text-start font-normal">
                  {title}
                </th>
                {months.map((month) => (
                  <td key={month} className="px-2 py-1 text-end">
                    {get(month, title) || ''}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}

function Export() {
  const text = useText();
  const save = () =>
    attempt(
      text,
      async () => {
        const rows = await exportReports();
        const names = Object.keys(rows[0] ?? { reference: '' });
        download('reports.csv', csv([names, ...rows.map((row) => names.map((name) => row[name]))]));
      },
      text.system.done,
    );
  return (
    <Panel title={text.figures.exportTitle}>
      <p className="text-muted-foreground mb-3">{text.figures.exportHelp}</p>
      <Button variant="outline" onClick={save}>
        {text.figures.exportButton}
      </Button>
    </Panel>
  );
}
