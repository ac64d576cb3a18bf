import { useLocation } from 'react-router-dom';
import { languages, locales, pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { site } from '@/site-config';

interface PageMetaProps {
  title: string;
  description: string;
  /** File below public/social, without the language and the extension. */
  image?: string;
  /** Whether search engines must not index the page: 404 pages and the thank-you page. */
  noindex?: boolean;
  /** schema.org data of the page. */
  jsonLd?: Record<string, unknown>;
}

/** The metadata of a page. React moves these tags to <head>, when prerendering and after each navigation. */
export function PageMeta({ title, description, image = 'home', noindex, jsonLd }: PageMetaProps) {
  const { pathname } = useLocation();
  const language = useLanguage();
  const { siteName } = useText('layout');
  const url = site.url + pathname;
  const fullTitle = title === siteName ? title : `${title} · ${siteName}`;
  const picture = `${site.url}/social/${image}-${language}.png`;

  return (
    <>
      <title>{fullTitle}</title>
      <meta name="description" content={description} />
      {noindex ? (
        <meta name="robots" content="noindex" />
      ) : (
        <>
          <link rel="canonical" href={url} />
          {languages.map((each) => (
            <link key={each} rel="alternate" hrefLang={each} href={site.url + pathIn(each, pathname)} />
          ))}
          <link rel="alternate" hrefLang="x-default" href={site.url + pathIn('en', pathname)} />
          <meta property="og:url" content={url} />
        </>
      )}
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={siteName} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:image" content={picture} />
      <meta property="og:locale" content={locales[language]} />
      {languages
        .filter((each) => each !== language)
        .map((each) => (
          <meta key={each} property="og:locale:alternate" content={locales[each]} />
        ))}
      <meta name="twitter:card" content="summary_large_image" />
      {jsonLd && (
        <script type="application/ld+json">
          {JSON.stringify({ '@context': 'https://schema.org', ...jsonLd })}
        </script>
      )}
    </>
  );
}
