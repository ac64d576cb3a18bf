import { join } from 'node:path';
import { injectManifest } from 'workbox-build';
import type { Language } from '@/i18n/language';

/** Writes the worker of one language: the built script with the list of the pages and files that it keeps. */
export async function writeServiceWorker(
  dist: string,
  script: string,
  language: Language,
  kept: { pages: readonly string[]; files: readonly string[] },
) {
  const { count, warnings } = await injectManifest({
    swSrc: join(dist, script),
    swDest: join(dist, language === 'so' ? 'so/sw.js' : 'sw.js'),
    globDirectory: dist,
    globPatterns: [...kept.pages.map((path) => `${path.slice(1)}index.html`), ...kept.files],
    manifestTransforms: [
      (entries) => ({
        manifest: entries.map((entry) => ({ ...entry, url: `/${entry.url.replace(/index\.html$/, '')}` })),
      }),
    ],
  });
  if (count !== kept.pages.length + kept.files.length)
    throw new Error(`the service worker keeps ${count} files: ${warnings.join(', ')}`);
}
