import { Eye, HandHeart, HeartHandshake, Search, Target, Users } from 'lucide-react';
import { Link } from '@/components/link';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { Card, CardDescription, CardTitle } from '@/components/ui/card';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { CommunityPicture } from '@/illustrations/community-picture';
import { PageMeta } from '@/layout/page-meta';
import { Organisation } from './organisation';

export function AboutScreen() {
  const language = useLanguage();
  const text = useText('about');
  const purposes = [
    { ...text.mission, Icon: Target },
    { ...text.vision, Icon: Eye },
  ];
  const values = [
    { ...text.values.respect, Icon: HandHeart },
    { ...text.values.evidence, Icon: Search },
    { ...text.values.community, Icon: Users },
    { ...text.values.transparency, Icon: HeartHandshake },
  ];
  const figures = [
    { figure: '1000+', name: text.figures.educated },
    { figure: '50+', name: text.figures.reported },
    { figure: '24/7', name: text.figures.support },
  ];

  return (
    <>
      <PageMeta title={text.title} description={text.description} image="about" />
      <PageHero title={text.heading} lead={text.lead} picture={<CommunityPicture />} />
      <div className="page grid gap-4 md:grid-cols-2">
        {purposes.map(({ title, content, Icon }) => (
          <section key={title} className="bg-primary-soft rounded-2xl p-6">
            <Icon aria-hidden className="text-primary size-8" />
            <h2 className="mt-3">{title}</h2>
            <p className="mt-2">{content}</p>
          </section>
        ))}
      </div>
      <section className="page py-10 md:py-14" aria-labelledby="values">
        <h2 id="values">{text.valuesTitle}</h2>
        <ul className="mt-6 grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
          {values.map(({ title, content, Icon }) => (
            <li key={title}>
              <Card className="h-full">
                <Icon aria-hidden className="text-henna size-8" />
                <CardTitle>{title}</CardTitle>
                <CardDescription>{content}</CardDescription>
              </Card>
            </li>
          ))}
        </ul>
      </section>
      <section className="bg-muted py-10" aria-labelledby="figures">
        <div className="page">
          <h2 id="figures">{text.figuresTitle}</h2>
          <dl className="mt-6 grid gap-6 sm:grid-cols-3">
            {figures.map(({ figure, name }) => (
              <div key={figure} className="flex flex-col-reverse justify-end">
                <dt className="text-lg">{name}</dt>
                <dd className="text-henna font-serif text-5xl font-semibold">{figure}</dd>
              </div>
            ))}
          </dl>
        </div>
      </section>
      <Organisation />
      <div className="page flex flex-wrap items-center gap-4 pt-10">
        <p className="text-lg">{text.next}</p>
        <Link to={pathIn(language, '/contact/')} className={buttonVariants()}>
          {text.contact}
        </Link>
      </div>
    </>
  );
}
