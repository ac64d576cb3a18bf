import type { Report } from '@desk/backend/reports';
import { Button, linkButton } from '@desk/components/button';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { Printer, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { DeleteDialog } from './delete-dialog';

/** The product, the reference, and what can be done with the whole report. */
export function ReportHead({ report, onDeleted }: { report: Report; onDeleted: () => void }) {
  const { text, language } = useLanguage();
  const { role } = useAccess();
  const [removing, setRemoving] = useState(false);
  return (
    <div className="flex flex-wrap items-start gap-2">
      <div className="min-w-0 flex-1">
        <h1 className="text-xl wrap-anywhere">{report.product_name}</h1>
        <p className="text-muted-foreground text-sm">
          <span className="font-mono">{report.reference}</span> · {text.report.received}{' '}
          {shortTime(language, report.created_at)}
        </p>
      </div>
      <div className="no-print flex gap-1">
        <Button variant="outline" onClick={() => window.print()}>
          <Printer aria-hidden="true" className="size-4!" />{' '}
          <span className="max-sm:sr-only">{text.report.print}</span>
        </Button>
        <Link to={`/reports/${report.reference}/forward`} className={linkButton}>
          <Send aria-hidden="true" className="size-4" />{' '}
          <span className="max-sm:sr-only">{text.report.forward}</span>
        </Link>
        {role === 'owner' && (
          <Button variant="outline" onClick={() => setRemoving(true)}>
            <Trash2 aria-hidden="true" className="size-4!" />{' '}
            <span className="max-sm:sr-only">{text.report.remove}</span>
          </Button>
        )}
      </div>
      {removing && (
        <DeleteDialog reference={report.reference} onClose={() => setRemoving(false)} onDeleted={onDeleted} />
      )}
    </div>
  );
}
