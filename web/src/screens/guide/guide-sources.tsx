import { Link } from '@/components/link';
import { type Guide, guideReview } from '@/content/guides';
import { readIn, sources, sourcesOf } from '@/content/sources';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { GuideReview } from './guide-review';

export function GuideSources({ guide }: { guide: Pick<Guide, 'slug' | 'sources' | 'signs'> }) {
  const language = useLanguage();
  const text = useText('guide');
  return (
    <section data-slot="sources" className="mt-6 text-sm">
      <h2 className="font-sans text-base">{text.sources}</h2>
      <ul className="text-muted-foreground mt-2 grid gap-2 list-disc ps-5">
        {sourcesOf(guide).map((id) => {
          const { name, url, published } = sources[id];
          return (
            <li key={id}>
              <a href={url} lang="en" className="underline">
                {name}
              </a>
              {', '}
              <span className="whitespace-nowrap">{published ?? `${text.read} ${readIn}`}</span>
            </li>
          );
        })}
      </ul>
      <p className="mt-3">
        {`${text.written} `}
        <GuideReview
          name={`guide-review/${guide.slug}/${language}/${guideReview.written}`}
          none={`${text.notReviewed} ${text.nextReview}`}
        />
      </p>
      <p className="mt-1">{text.disclaimer}</p>
      <p className="print:hidden mt-3">
        <Link
          to={pathIn(language, '/resources/')}
          className="text-primary inline-flex min-h-11 items-center font-semibold underline"
        >
          {text.printable}
        </Link>
      </p>
    </section>
  );
}
