import { join } from 'node:path';
import { injectManifest } from 'workbox-build';
import type { Language } from '@/i18n/language';

/** Writes the worker of one language: the built script with the list of that language's pages. */
export async function writeServiceWorker(
  dist: string,
  script: string,
  language: Language,
  paths: readonly string[],
) {
  await injectManifest({
    swSrc: join(dist, script),
    swDest: join(dist, language === 'so' ? 'so/sw.js' : 'sw.js'),
    globDirectory: dist,
    globPatterns: paths.map((path) => `${path.slice(1)}index.html`),
    manifestTransforms: [
      (entries) => ({
        manifest: entries.map((entry) => ({ ...entry, url: `/${entry.url.replace(/index\.html$/, '')}` })),
      }),
    ],
  });
}
