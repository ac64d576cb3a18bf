import { CircleCheck } from 'lucide-react';
import { Link } from '@/components/link';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';

/**
 * The page after a form post without JavaScript. The function redirects to #sent; without that no report was sent, and
 * the page says so. The reference is in a cookie that only the function can read, so the function shows it in a frame.
 * boot/sent-page.ts deletes the draft and hides the frame later, because this page may never be hydrated.
 */
export function ThankYouScreen() {
  const text = useText('thank-you');
  const language = useLanguage();
  return (
    <div className="page pt-10 md:pt-16">
      <PageMeta title={text.pageTitle} description={text.none.description} noindex />
      <div id="sent" className="peer hidden justify-items-start gap-5 target:grid">
        <CircleCheck aria-hidden className="text-primary size-12" />
        <h1>{text.title}</h1>
        <p className="prose-width text-lg">{text.description}</p>
        <iframe
          src={`/functions/v1/submit-report?language=${language}`}
          title={text.reference}
          className="bg-primary-soft h-28 w-full max-w-md rounded-2xl"
        />
        <p className="prose-width">{text.keep}</p>
        <div className="flex flex-wrap gap-3">
          <Link to={pathIn(language, '/')} className={buttonVariants()}>
            {text.home}
          </Link>
          <Link to={pathIn(language, '/report/')} className={buttonVariants({ variant: 'outline' })}>
            {text.another}
          </Link>
        </div>
      </div>
      <div className="grid justify-items-start gap-5 peer-target:hidden">
        <h1>{text.none.title}</h1>
        <p className="prose-width text-lg">{text.none.description}</p>
        <Link to={pathIn(language, '/report/')} className={buttonVariants()}>
          {text.none.form}
        </Link>
      </div>
    </div>
  );
}
