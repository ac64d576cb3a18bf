import { Link } from '@/components/link';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { Card, CardDescription, CardTitle } from '@/components/ui/card';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { BoxPicture } from '@/illustrations/box-picture';
import { CalendarPicture } from '@/illustrations/calendar-picture';
import { CreamPicture } from '@/illustrations/cream-picture';
import { FamilyPicture } from '@/illustrations/family-picture';
import { PageMeta } from '@/layout/page-meta';
import { site } from '@/site-config';
import { AboutAndWarning } from './about-and-warning';
import { QuickAccess } from './quick-access';

export function HomeScreen() {
  const language = useLanguage();
  const text = useText('home');
  const tips = [
    { ...text.tips.mixing, Picture: CreamPicture },
    { ...text.tips.expiry, Picture: CalendarPicture },
    { ...text.tips.sources, Picture: BoxPicture },
  ];

  return (
    <>
      <PageMeta
        title={text.title}
        description={text.description}
        jsonLd={{ '@type': 'NGO', name: 'Daawo', url: site.url, areaServed: ['Somalia', 'Toronto, Canada'] }}
      />
      <PageHero title={text.heading} lead={text.lead} picture={<FamilyPicture />}>
        <Link
          to={pathIn(language, '/learn/')}
          className={buttonVariants({ size: 'lg', className: 'max-lg:grow' })}
        >
          {text.learnRisks}
        </Link>
        <Link
          to={pathIn(language, '/report/')}
          className={buttonVariants({ size: 'lg', variant: 'outline', className: 'max-lg:grow' })}
        >
          {text.reportProduct}
        </Link>
      </PageHero>
      <section className="bg-muted py-10 md:py-14" aria-labelledby="tips">
        <div className="page">
          <h2 id="tips">{text.tipsTitle}</h2>
          <ul className="mt-6 grid gap-4 md:grid-cols-3">
            {tips.map(({ title, content, Picture }) => (
              <li key={title}>
                <Card className="h-full max-md:flex-row max-md:flex-wrap">
                  <div className="w-16 shrink-0 md:w-20">
                    <Picture />
                  </div>
                  <div className="flex-1 max-md:basis-40">
                    <CardTitle>{title}</CardTitle>
                    <CardDescription className="mt-1">{content}</CardDescription>
                  </div>
                </Card>
              </li>
            ))}
          </ul>
        </div>
      </section>
      <QuickAccess />
      <AboutAndWarning />
    </>
  );
}
