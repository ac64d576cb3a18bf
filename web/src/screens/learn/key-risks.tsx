import { BellRing, TriangleAlert } from 'lucide-react';
import { Link } from '@/components/link';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

/** The key health risks, the message about beauty and the reminder to seek help. */
export function KeyRisks() {
  const language = useLanguage();
  const text = useText('learn');
  const { antibiotics, painkillers, creams, expired, pregnancy } = text.risks;

  return (
    <div className="page grid gap-6 pt-10 md:pt-14 lg:grid-cols-[3fr_2fr]">
      <section aria-labelledby="risks">
        <h2 id="risks" className="flex items-center gap-3">
          <TriangleAlert aria-hidden className="text-henna size-8 shrink-0" />
          {text.risksTitle}
        </h2>
        <ul className="mt-4 grid gap-4">
          {[antibiotics, painkillers, creams, expired, pregnancy].map(({ title, content }) => (
            <li key={title} className="border-henna border-s-4 ps-4">
              <h3>{title}</h3>
              <p>{content}</p>
            </li>
          ))}
        </ul>
      </section>
      <div className="grid content-start gap-6">
        <section className="bg-rose-soft rounded-2xl p-6">
          <h2 className="text-rose">{text.beautyTitle}</h2>
          <p className="mt-2">{text.beauty}</p>
        </section>
        <Alert variant="warning">
          <BellRing aria-hidden />
          <AlertTitle>{text.reminderTitle}</AlertTitle>
          <AlertDescription>
            <p>{text.reminder}</p>
            <Link
              to={pathIn(language, '/report/')}
              className={buttonVariants({ variant: 'outline', className: 'mt-3' })}
            >
              {text.report}
            </Link>
          </AlertDescription>
        </Alert>
      </div>
    </div>
  );
}
