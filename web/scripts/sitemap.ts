import { languages, pathIn } from '@/i18n/language';

/** Returns sitemap.xml with both languages of every page. The gateway fills in the origin. */
export function sitemap(paths: readonly string[]) {
  const url = (path: string) => `__SITE_URL__${path}`;
  const entries = paths.map((path) => {
    const alternates = languages.map(
      (language) =>
        `<xhtml:link rel="alternate" hreflang="${language}" href="${url(pathIn(language, path))}"/>`,
    );
    return `<url><loc>${url(path)}</loc>${alternates.join('')}</url>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ...entries,
    '</urlset>',
    '',
  ].join('\n');
}
