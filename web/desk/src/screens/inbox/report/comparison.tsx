import { type Report, readReport } from '@desk/backend/reports';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { useLoad } from '@desk/components/use-load';
import { useLanguage } from '@desk/i18n/language';
import { compare } from './compare';

/** Two reports side by side. Lines with the same value stand out. */
export function Comparison({ report, other }: { report: Report; other: string }) {
  const { text, language } = useLanguage();
  const { data, error } = useLoad(() => readReport(other), other);
  if (error) return <Failure error={error} />;
  if (!data) return <Loading />;
  const lines = compare(report, data, language, text);
  return (
    <div className="overflow-x-auto">
      <table className="w-full table-fixed text-sm">
        <tbody>
          {lines.map(({ name, values: [mine, theirs], same }) => (
            <tr key={name} className={same ? 'bg-sun-soft text-sun-ink' : ''}>
              <th scope="row" className="w-24 p-1.5 text-start align-top font-normal">
                {name}
              </th>
              <td className="p-1.5 align-top whitespace-pre-wrap wrap-anywhere">{mine ?? '–'}</td>
              <td className="p-1.5 align-top whitespace-pre-wrap wrap-anywhere">{theirs ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
