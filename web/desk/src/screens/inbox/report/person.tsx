import type { Report } from '@desk/backend/reports';
import { linkButton } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { Phone } from 'lucide-react';
import { Fact } from './fact';

/** The person who reported, and the ways to reach them. */
export function Person({ report }: { report: Report }) {
  const text = useText();
  const number = report.phone_e164;
  return (
    <div>
      <h2 className="mb-1">{text.report.person}</h2>
      <dl>
        <Fact name={text.report.name}>{report.name ?? text.report.anonymous}</Fact>
        <Fact name={text.report.phone}>
          {report.phone && <span className="font-mono">{number ?? report.phone}</span>}
        </Fact>
        <Fact name={text.report.languageLabel}>{text.report.language[report.language]}</Fact>
      </dl>
      {number && (
        <p className="no-print mt-3 flex gap-2">
          <a className={linkButton} href={`tel:${number}`}>
            <Phone aria-hidden="true" className="size-4" /> {text.report.call}
          </a>
          <a
            className={linkButton}
            href={`https://wa.me/${number.slice(1)}`}
            target="_blank"
            rel="noopener noreferrer"
          >
            {text.report.whatsapp}
          </a>
        </p>
      )}
    </div>
  );
}
