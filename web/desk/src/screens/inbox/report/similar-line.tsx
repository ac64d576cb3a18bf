import type { Related } from '@desk/backend/clusters';
import { ReportLink } from '@desk/cases/report-link';
import { Button } from '@desk/components/button';
import { StatusBadge } from '@desk/components/status-badge';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';

interface Props {
  other: Related;
  onCompare: () => void;
  onLink: () => void;
}

/** A report that belongs to the open one, with the reasons. */
export function SimilarLine({ other, onCompare, onLink }: Props) {
  const { text, language } = useLanguage();
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
      <div className="flex min-w-48 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-x-2">
          <ReportLink reference={other.reference} />
          <StatusBadge status={other.status} />
          <span className="text-muted-foreground text-sm">
            {other.region ?? text.inbox.noRegion} · {shortTime(language, other.created_at)}
          </span>
        </p>
        <p className="flex flex-wrap gap-1 text-xs">
          {other.likely && <span className="text-henna font-semibold">{text.report.likely}</span>}
          {other.reasons.map((reason) => (
            <span key={reason} className="bg-muted rounded px-1.5 py-0.5">
              {text.report.reasons[reason]}
            </span>
          ))}
        </p>
      </div>
      <div className="flex gap-2">
        {!other.reasons.includes('linked') && (
          <Button variant="outline" aria-label={`${text.report.link}: ${other.reference}`} onClick={onLink}>
            {text.report.link}
          </Button>
        )}
        <Button
          variant="outline"
          aria-label={`${text.report.compare}: ${other.reference}`}
          onClick={onCompare}
        >
          {text.report.compare}
        </Button>
      </div>
    </li>
  );
}
