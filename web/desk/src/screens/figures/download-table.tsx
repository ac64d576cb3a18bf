import type { Downloads } from '@desk/backend/figures';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { saveCsv } from '@desk/lib/save-csv';
import { downloadsByMonth } from './downloads';

/** The downloads of each resource in the last months. */
export function DownloadTable({ data }: { data: Downloads }) {
  const text = useText();
  const { months, rows } = downloadsByMonth(data);
  const names = [text.figures.month, text.figures.resource, text.figures.number];
  const save = () => saveCsv('downloads.csv', [names, ...data]);
  return (
    <Panel
      title={text.figures.downloads}
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
            {rows.map(([title, numbers]) => (
              <tr key={title} className="border-b last:border-0">
                <th scope="row" className="py-1 pe-3 text-start font-normal">
                  {title}
                </th>
                {numbers.map((number, i) => (
                  <td key={months[i]} className="px-2 py-1 text-end">
                    {number || ''}
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
