import { Link } from '@/components/link';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { CamelPicture } from '@/illustrations/camel-picture';
import { PageMeta } from '@/layout/page-meta';

export function GuideNotFound() {
  const language = useLanguage();
  const text = useText('guide');
  return (
    <>
      <PageMeta title={text.notFound.title} description={text.notFound.content} noindex />
      <PageHero alone title={text.notFound.title} lead={text.notFound.content} picture={<CamelPicture />}>
        <Link to={pathIn(language, '/learn/')} className={buttonVariants()}>
          {text.back}
        </Link>
      </PageHero>
    </>
  );
}
