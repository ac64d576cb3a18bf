import { Link } from '@/components/link';
import { usePageData } from '@/components/page-data';
import { PageHero } from '@/components/page-hero';
import { Badge } from '@/components/ui/badge';
import { CardDescription } from '@/components/ui/card';
import type { Guide, GuideCategory } from '@/content/guides';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { BookPicture } from '@/illustrations/book-picture';
import { GuidePicture } from '@/illustrations/guide-picture';
import { PageMeta } from '@/layout/page-meta';
import { KeyRisks } from './key-risks';

const categoryColors: Record<GuideCategory, string> = {
  Safety: 'bg-sun-soft text-sun-ink',
  Medicine: 'bg-primary-soft text-primary-deep',
  "Women's Health": 'bg-rose-soft text-rose',
};

export function LearnScreen() {
  const language = useLanguage();
  const text = useText('learn');
  const guides = usePageData<Guide[]>();

  return (
    <>
      <PageMeta title={text.title} description={text.description} image="learn" />
      <PageHero title={text.heading} lead={text.lead} picture={<BookPicture />} />
      <section className="page" aria-labelledby="guides">
        <h2 id="guides">{text.guidesTitle}</h2>
        <ul className="mt-6 grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
          {guides.map(({ slug, icon, category, title, description }) => (
            <li key={slug}>
              <Link
                to={pathIn(language, `/learn/${slug}/`)}
                className="bg-card flex h-full gap-4 rounded-2xl border p-4 hover:border-primary max-sm:flex-wrap sm:flex-col"
              >
                <div className="w-16 shrink-0 sm:w-20">
                  <GuidePicture icon={icon} />
                </div>
                <div className="max-sm:flex-1 max-sm:basis-40">
                  <Badge className={categoryColors[category]}>{text.categories[category]}</Badge>
                  <h3 className="mt-2">{title}</h3>
                  <CardDescription className="mt-1">{description}</CardDescription>
                </div>
              </Link>
            </li>
          ))}
        </ul>
      </section>
      <KeyRisks />
    </>
  );
}
