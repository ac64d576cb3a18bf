import { type Group, linkReports } from '@desk/backend/clusters';
import { ReportLink } from '@desk/cases/report-link';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { StatusBadge } from '@desk/components/status-badge';
import { dayRange, shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';

interface Props {
  group: Group;
  onLinked: () => void;
}

/** A group of reports, its newest ones, and the button that links them. */
export function GroupCard({ group, onLinked }: Props) {
  const { text, language } = useLanguage();
  const [first, ...others] = group.reports.map(({ id }) => id);
  const place = group.regions?.join(', ') ?? text.inbox.noRegion;
  const link = () =>
    attempt(text, () => linkReports(first ?? '', others, true), text.clusters.linked(group.reports.length));
  return (
    <li className="flex flex-col gap-2 rounded-lg border p-3">
      <div>
        <p className="flex flex-wrap items-baseline justify-between gap-x-3">
          <strong className="font-semibold wrap-anywhere">{group.label}</strong>
          <span className="text-sm whitespace-nowrap">
            {text.clusters.reports(group.n)}
            {group.open > 0 && <span className="text-new"> · {text.clusters.open(group.open)}</span>}
          </span>
        </p>
        <p className="text-muted-foreground text-sm wrap-anywhere">
          {group.kind !== 'place' && `${group.product} · `}
          {place} · {dayRange(language, group.first, group.last)}
        </p>
      </div>
      <ul className="grid grid-cols-[auto_auto_1fr] items-center justify-items-start gap-x-3 gap-y-0.5 text-sm">
        {group.reports.map((report) => (
          <li key={report.id} className="contents">
            <ReportLink reference={report.reference} />
            <StatusBadge status={report.status} />
            <span className="text-muted-foreground">{shortDay(language, report.created_at)}</span>
          </li>
        ))}
      </ul>
      {group.n > group.reports.length && (
        <p className="text-muted-foreground text-sm">
          {text.report.moreSimilar(group.n - group.reports.length)}
        </p>
      )}
      <Button
        variant="outline"
        className="mt-auto self-start"
        aria-label={`${text.clusters.link}: ${group.label}`}
        onClick={() => link().then(onLinked)}
      >
        {text.clusters.link}
      </Button>
    </li>
  );
}
