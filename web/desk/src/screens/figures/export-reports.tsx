import { exportReports } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { table } from '@desk/lib/csv';
import { saveCsv } from '@desk/lib/save-csv';

/** Saves all reports with every field, for owners. */
export function ExportReports() {
  const text = useText();
  const save = () =>
    attempt(
      text,
      async () => saveCsv('reports.csv', table(await exportReports(), ['reference'])),
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
