import type { Rising } from '@desk/backend/clusters';
import { useText } from '@desk/i18n/language';
import { Link } from 'react-router-dom';
import { chanceWord, weekBars } from './rising';

/** The products that rise, with thirteen weeks as bars. */
export function RisingList({ rising }: { rising: Rising[] }) {
  const text = useText();
  if (rising.length === 0) return <p className="text-muted-foreground">{text.clusters.noRising}</p>;
  return (
    <ul className="divide-y">
      {rising.map((line) => (
        <li key={line.product} className="flex flex-wrap items-center gap-x-6 gap-y-1 py-2">
          <div className="min-w-48 flex-1">
            <Link
              className="text-primary inline-flex min-h-[24px] items-center font-semibold wrap-anywhere underline"
              to={`/reports?product=${encodeURIComponent(line.product)}`}
            >
              {line.product}
            </Link>
            <p className="text-muted-foreground text-sm">{text.clusters.line(line.now, line.before)}</p>
          </div>
          <Bars weeks={line.weeks} />
          <span className="text-sm sm:min-w-36 sm:text-end whitespace-nowrap tabular-nums">
            {text.clusters.chance(chanceWord(line.chance))}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Bars({ weeks }: { weeks: number[] }) {
  const text = useText();
  return (
    <svg
      viewBox="0 0 104 24"
      className="h-6 w-26"
      role="img"
      aria-label={text.clusters.weeks(weeks.join(', '))}
    >
      {weekBars(weeks, 23).map((height, week) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: a week has no other name
          key={week}
          x={week * 8}
          y={24 - height}
          width="6"
          height={height}
          rx="1"
          className={week === weeks.length - 1 ? 'fill-henna' : 'fill-input'}
        />
      ))}
    </svg>
  );
}
