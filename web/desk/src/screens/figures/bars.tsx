import { digits } from '@desk/i18n/format';
import { largestFirst } from './figures';

/** Names with their numbers, each with a bar; the largest first. */
export function Bars({ label, values }: { label: string; values: [string, number][] }) {
  const sorted = largestFirst(values);
  const most = Math.max(1, sorted[0]?.[1] ?? 0);
  return (
    <table className="w-full text-sm" aria-label={label}>
      <tbody>
        {sorted.map(([name, n]) => (
          <tr key={name} className={n === 0 ? 'text-muted-foreground' : ''}>
            <th scope="row" className="max-w-36 py-0.5 pe-2 text-start font-normal" title={name}>
              <span className="line-clamp-2 leading-tight wrap-anywhere">{name}</span>
            </th>
            <td className="w-1/2 py-0.5">
              <div className="bg-primary h-2.5 rounded-xs" style={{ width: `${(100 * n) / most}%` }} />
            </td>
            <td className="ps-2 text-end tabular-nums">{digits(n)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
