import type { Figures } from '@desk/backend/figures';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { StatusBadge } from '@desk/components/status-badge';
import { digits, shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { saveCsv } from '@desk/lib/save-csv';
import { statuses } from '@desk/lib/status';
import type { ReactNode } from 'react';
import { Bars } from './bars';
import { Columns } from './columns';
import { everyWeek, figuresTable, regionCounts } from './figures';
import { RegionMap } from './region-map';
import { outlines } from './region-outlines';

interface Props {
  data: Figures;
  since: string;
  children: ReactNode;
}

/** The figures of reports in two columns; children end the narrow one. */
export function ReportFigures({ data, since, children }: Props) {
  const { text, language } = useLanguage();
  const { median, p90, waiting } = data.first_action_hours;
  if (data.total === 0)
    return (
      <div className="flex flex-col gap-4">
        <Panel className="text-muted-foreground py-10 text-center">{text.figures.empty}</Panel>
        {children}
      </div>
    );
  const save = () => saveCsv(`figures-${since}.csv`, figuresTable(data, text));
  return (
    <div className="grid items-start gap-4 lg:grid-cols-3">
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
              values={regionCounts(data.regions, Object.keys(outlines), text.figures.noRegion)}
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

function Headline({ name, value }: { name: string; value: string }) {
  return (
    <div className="bg-card flex flex-col justify-between rounded-lg border p-3">
      <dt className="text-muted-foreground text-xs">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{value}</dd>
    </div>
  );
}
