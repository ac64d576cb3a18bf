import { exportReports } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { table } from '@desk/lib/csv';
import { saveCsv } from '@desk/lib/save-csv';

/** The first columns, in the order of `daawo reports export`. */
const columns = [
  'reference',
  'created_at',
  'status',
  'language',
  'product_name',
  'batch_number',
  'expiry_date',
  'where_bought',
  'issue_description',
  'location',
  'region',
  'district',
  'name',
  'phone',
  'phone_e164',
];

/** Saves all reports with every field, the newest first, for owners. */
export function ExportReports() {
  const text = useText();
  const save = () =>
    attempt(
      text,
      async () => saveCsv('reports.csv', table(await exportReports(), columns)),
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
