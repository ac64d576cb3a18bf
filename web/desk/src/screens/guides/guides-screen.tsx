import { listGuides } from '@desk/backend/guides';
import { listen } from '@desk/backend/listen';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useLanguage } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { useEffect } from 'react';
import { Link, useParams } from 'react-router-dom';
import { languageNames } from '@/i18n/language';
import { GuidePanel } from './guide-panel';
import { titleIn } from './guide-values';
import { ReviewBadge } from './review-badge';

/** The guides, or one of them: its texts, files and review. */
export default function GuidesScreen() {
  const { text, language } = useLanguage();
  const { role } = useAccess();
  const { slug } = useParams();
  const { data, error, reload } = useLoad(listGuides, 'guides');
  useEffect(() => (role === 'reviewer' ? undefined : listen('resources', reload)), [role, reload]);
  if (error && !data) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  if (slug) {
    const guide = data.find((each) => each.slug === slug);
    if (!guide) return <p role="alert">{text.notFound}</p>;
    return <GuidePanel key={slug} guide={guide} onChanged={reload} />;
  }
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <ScreenHead title={text.guides.title} />
      <p className="text-muted-foreground max-w-prose">{text.guides.intro}</p>
      {data.length === 0 && <p>{text.guides.empty}</p>}
      <ol className="bg-card divide-y rounded-lg border">
        {data.map((guide) => (
          <li key={guide.slug} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2.5">
            <div className="min-w-48 flex-1">
              <Link
                to={`/guides/${guide.slug}`}
                className="inline-flex min-h-[24px] items-center font-semibold hover:underline"
              >
                {titleIn(language, guide)}
              </Link>
              <p className="text-muted-foreground text-xs">
                {language === 'so' ? (guide.category_so ?? guide.category) : guide.category}
                {guide.resources.map(({ id, file_language, resource_versions }) => (
                  <span key={id}>
                    {' · '}
                    {file_language ? languageNames[file_language] : text.resources.file}{' '}
                    {text.guides.version(resource_versions.length + 1)}
                  </span>
                ))}
              </p>
            </div>
            <ReviewBadge guide={guide} />
          </li>
        ))}
      </ol>
    </div>
  );
}
