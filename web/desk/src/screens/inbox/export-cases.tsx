import { exportCases } from '@desk/backend/notices';
import type { Row } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { ConfirmDialog } from '@desk/components/confirm-dialog';
import { useText } from '@desk/i18n/language';
import { today } from '@desk/lib/local-day';
import { maskPerson } from '@desk/lib/mask-person';
import { useState } from 'react';

/** Saves the checked reports as one file for an authority. */
export function ExportCases({ rows }: { rows: Row[] }) {
  const text = useText();
  const [asking, ask] = useState(false);
  const save = async () => {
    ask(false);
    const [cases, { saveCases }] = await Promise.all([
      exportCases(rows.map(({ id }) => id)),
      import('@desk/cases/e2b/save-cases'),
    ]);
    const masked = cases.map((report) => ({
      ...report,
      words: maskPerson(report.issue_description, [report.name, report.phone, report.phone_e164]),
    }));
    saveCases(`cases-${today()}`, masked, '');
  };
  return (
    <>
      <Button variant="outline" onClick={() => ask(true)}>
        {text.inbox.exportCases}
      </Button>
      {asking && (
        <ConfirmDialog
          title={text.inbox.exportTitle(rows.length)}
          help={text.inbox.exportHelp}
          action={text.inbox.exportCases}
          onClose={() => ask(false)}
          onConfirm={() => void attempt(text, save)}
        />
      )}
    </>
  );
}
