import { TriangleAlert } from 'lucide-react';
import { Link } from '@/components/link';
import { Alert, AlertDescription } from '@/components/ui/alert';
import { latestWarning } from '@/content/latest-warning';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { site } from '@/site-config';

/** Who stands behind the site, and the latest warning of a health authority. */
export function AboutAndWarning() {
  const language = useLanguage();
  const { about, warning } = useText('home');
  const link = 'text-primary inline-flex min-h-11 items-center font-semibold underline';
  return (
    <div className="page grid gap-x-4 gap-y-6 md:grid-cols-2">
      <section>
        <h2>{about.title}</h2>
        <p className="mt-2">{about.content}</p>
        <p className="mt-2 whitespace-pre-line empty:hidden">{site.people}</p>
        <Link to={pathIn(language, '/about/')} className={link}>
          {about.link}
        </Link>
      </section>
      <Alert variant="warning">
        <TriangleAlert aria-hidden />
        <AlertDescription>
          <h2>{warning.title}</h2>
          <p className="mt-2">{warning.content}</p>
          <p className="flex flex-wrap gap-x-6">
            <a href={latestWarning.source} className={link}>
              {warning.date}
            </a>
            <a href={latestWarning.all} className={link}>
              {warning.all}
            </a>
          </p>
        </AlertDescription>
      </Alert>
    </div>
  );
}
