import { Info } from 'lucide-react';
import { Link } from '@/components/link';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

export function ReportSection() {
  const language = useLanguage();
  const text = useText('contact');
  return (
    <div className="page grid gap-4 md:grid-cols-2">
      <section id="report" className="bg-muted rounded-2xl p-6">
        <h2>{text.reportTitle}</h2>
        <p className="mt-2">{text.report}</p>
        <Link to={pathIn(language, '/report/')} className={buttonVariants({ className: 'mt-4' })}>
          {text.goToReport}
        </Link>
      </section>
      <Alert variant="warning" className="content-start">
        <Info aria-hidden />
        <AlertTitle>{text.disclaimerTitle}</AlertTitle>
        <AlertDescription>{text.disclaimer}</AlertDescription>
      </Alert>
    </div>
  );
}
