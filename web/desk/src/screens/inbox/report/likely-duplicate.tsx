import { ReportLink } from '@desk/cases/report-link';
import type { Case } from '@desk/cases/use-case';
import { Button } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { Comparison } from './comparison';

/** A duplicate that was found at arrival, beside the report, until a reviewer decides. */
export function LikelyDuplicate({ report, change }: Case) {
  const text = useText();
  const [open, setOpen] = useState(false);
  const other = report.possible_duplicate;
  if (!other || !report.possible_duplicate_of || report.duplicate_of) return null;
  return (
    <section
      aria-label={text.report.likelyTitle}
      className="no-print bg-sun-soft text-sun-ink flex flex-col gap-3 rounded-lg p-3"
    >
      <p className="flex flex-wrap items-center gap-x-2">
        {text.report.likelyTitle} <ReportLink reference={other} />
      </p>
      {open && (
        <div className="bg-card text-foreground rounded-lg p-2">
          <Comparison report={report} other={other} />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          onClick={() =>
            change(
              { duplicate_of: report.possible_duplicate_of, status: 'closed' },
              text.report.merged(other),
            )
          }
        >
          {text.report.isDuplicate}
        </Button>
        <Button variant="outline" onClick={() => change({ possible_duplicate_of: null }, text.saved)}>
          {text.report.isNoDuplicate}
        </Button>
        <Button variant="outline" aria-expanded={open} onClick={() => setOpen(!open)}>
          {text.report.compare}
        </Button>
      </div>
    </section>
  );
}
