import type { Report } from '@desk/backend/reports';
import { Panel } from '@desk/components/panel';
import { shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { placeName } from '@desk/lib/place-name';
import { Fact } from './fact';
import { Person } from './person';
import { hasTypedPlace } from './typed-place';

/** What the report says about the product, the place and the person. */
export function Facts({ report }: { report: Report }) {
  const { text, language } = useLanguage();
  const place = placeName(report);
  const typed = hasTypedPlace(report);
  return (
    <Panel>
      <div className="grid gap-x-8 gap-y-3 sm:grid-cols-2 print:grid-cols-2">
        <div>
          <h2 className="mb-1">{text.report.product}</h2>
          <dl>
            <Fact name={text.report.batch}>{report.batch_number}</Fact>
            <Fact name={text.report.expiry}>
              {report.expiry_date && shortDay(language, report.expiry_date)}
            </Fact>
            <Fact name={text.report.bought}>{report.where_bought}</Fact>
            <Fact name={text.report.place}>
              {place || (!typed && text.inbox.noRegion)}
              {typed && <span className="block">{report.location}</span>}
            </Fact>
          </dl>
        </div>
        <Person report={report} />
      </div>
    </Panel>
  );
}
