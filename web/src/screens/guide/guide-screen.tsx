import { ArrowLeft } from 'lucide-react';
import { Link } from '@/components/link';
import { usePageData } from '@/components/page-data';
import { PageHero } from '@/components/page-hero';
import { type Guide, guideReview } from '@/content/guides';
import { recording } from '@/content/recordings';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { GuidePicture } from '@/illustrations/guide-picture';
import { PageMeta } from '@/layout/page-meta';
import { DangerSigns } from './danger-signs';
import { GuideBlocks } from './guide-blocks';
import { GuideEnd } from './guide-end';
import { GuideNotFound } from './guide-not-found';
import { GuideSources } from './guide-sources';
import { GuideStart } from './guide-start';
import { ReadAloud } from './read-aloud';

export function GuideScreen() {
  const guide = usePageData<Guide | null>();
  return guide ? <GuidePage guide={guide} /> : <GuideNotFound />;
}

function GuidePage({ guide }: { guide: Guide }) {
  const language = useLanguage();
  const text = useText('guide');
  const spoken = recording(language, guide.slug);

  return (
    <>
      <PageMeta
        title={guide.title}
        description={guide.description}
        image={guide.slug}
        jsonLd={{
          '@type': 'MedicalWebPage',
          dateModified: guideReview.written,
        }}
      />
      <article className="guide">
        <PageHero
          title={guide.title}
          lead={guide.description}
          picture={<GuidePicture icon={guide.icon} />}
          above={
            <Link
              to={pathIn(language, '/learn/')}
              className="text-primary print:hidden mb-2 inline-flex min-h-11 items-center gap-2 font-semibold"
            >
              <ArrowLeft aria-hidden className="size-5" />
              {text.back}
            </Link>
          }
        >
          <a href="#danger" className="text-destructive print:hidden font-semibold underline lg:hidden">
            {text.danger.title}
          </a>
          <ReadAloud />
          {spoken && (
            <figure className="print:hidden">
              <figcaption className="font-semibold">{text.listen}</figcaption>
              {/* The recording reads the guide below aloud, so it needs no captions. */}
              {/* biome-ignore lint/a11y/useMediaCaption: see above */}
              <audio controls preload="none" src={spoken} aria-label={text.listen} className="mt-2" />
            </figure>
          )}
        </PageHero>
        <div className="page guide-columns gap-10 lg:grid lg:grid-cols-[minmax(0,42rem)_1fr]">
          <div data-slot="guide">
            <GuideStart guide={guide} />
            <GuideBlocks blocks={guide.content} />
          </div>
          {/* Beside the longer guide it scrolls until its end is in view, and stays there. */}
          <aside className="mt-8 lg:sticky lg:bottom-8 lg:mt-0 lg:self-end">
            <DangerSigns signs={guide.signs} />
            <GuideSources guide={guide} />
          </aside>
        </div>
      </article>
      <GuideEnd slug={guide.slug} />
    </>
  );
}
