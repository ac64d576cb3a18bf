import { useEffect } from 'react';
import { Link } from '@/components/link';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { CamelPicture } from '@/illustrations/camel-picture';
import { PageMeta } from '@/layout/page-meta';

/** The path of this document. boot/not-found-page.ts has already logged it. */
const openedAt = typeof location === 'undefined' ? '' : location.pathname;

export function NotFoundScreen() {
  const language = useLanguage();
  const text = useText('not-found');
  useEffect(() => {
    if (location.pathname !== openedAt) console.error('404: no page at', location.pathname);
  }, []);

  return (
    <div data-missing>
      <PageMeta title={text.title} description={text.description} noindex />
      <PageHero alone title={text.title} lead={text.hint} picture={<CamelPicture />}>
        <Link to={pathIn(language, '/')} className={buttonVariants()}>
          {text.home}
        </Link>
      </PageHero>
    </div>
  );
}
