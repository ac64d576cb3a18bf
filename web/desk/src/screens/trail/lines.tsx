import { listStaff } from '@desk/backend/staff';
import type { TrailRow } from '@desk/backend/trail';
import { useLoad } from '@desk/components/use-load';
import type { Text } from '@desk/i18n/en';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { actorName } from '@desk/lib/actor-name';
import { Link } from 'react-router-dom';
import { trailDetails } from './trail-details';

/** The rows of the trail as a table. */
export function Lines({ rows }: { rows: TrailRow[] }) {
  const { text, language } = useLanguage();
  const staff = useLoad(listStaff, 'staff');
  const names = new Map((staff.data ?? []).map((m) => [m.id, m.name]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by the arrow keys
    <section className="bg-card overflow-x-auto rounded-lg border" tabIndex={0} aria-label={text.trail.title}>
      <table className="w-full text-sm">
        <thead className="max-sm:sr-only">
          <tr className="text-muted-foreground border-b text-start">
            {[text.trail.when, text.trail.who, text.trail.what, text.trail.detail].map((name) => (
              <th key={name} className="px-3 py-1.5 text-start font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className="border-b last:border-0 max-sm:flex max-sm:flex-wrap max-sm:py-1">
              <td className="text-muted-foreground px-3 py-1.5 whitespace-nowrap max-sm:order-1 max-sm:ms-auto max-sm:py-0.5">
                {shortTime(language, row.at)}
              </td>
              <td className="px-3 py-1.5 wrap-anywhere max-sm:py-0.5">
                {actorName(row.actor_name, text.trail.actors)}
              </td>
              <td className="px-3 py-1.5 max-sm:order-2 max-sm:basis-full max-sm:py-0.5">
                {text.trail.actions[row.action as keyof Text['trail']['actions']] ?? row.action}{' '}
                {text.trail.subjects[row.subject as keyof Text['trail']['subjects']] ?? row.subject}{' '}
                <Subject row={row} />
              </td>
              <td className="text-muted-foreground px-3 py-1.5 wrap-anywhere max-sm:order-3 max-sm:basis-full max-sm:py-0 max-sm:empty:hidden">
                {trailDetails(row.detail, language, text, names)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Subject({ row }: { row: TrailRow }) {
  if (row.subject === 'report' && row.subject_name && row.action !== 'delete') {
    return (
      <Link className="text-primary font-mono underline" to={`/reports/${row.subject_name}`}>
        {row.subject_name}
      </Link>
    );
  }
  return <span className={row.subject === 'report' ? 'font-mono' : ''}>{row.subject_name}</span>;
}
