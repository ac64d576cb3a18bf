import { expect, test } from './fixtures';
import { slugs } from './guides';
import { inBothLanguages } from './languages';

/** The page that shows each part of the dictionary. */
const shownAt = {
  layout: ['/', '/report/'],
  home: ['/'],
  about: ['/about/'],
  learn: ['/learn/'],
  guide: [...slugs.map((slug) => `/learn/${slug}/`), '/learn/nothing/'],
  'womens-health': ['/women-health/'],
  report: ['/report/'],
  'thank-you': ['/report/thank-you/'],
  resources: ['/resources/'],
  contact: ['/contact/'],
  privacy: ['/privacy/'],
  'not-found': ['/nowhere/'],
} as const;

/** Texts that are shown only after an action. The specs of their screens test them. */
const later = {
  layout: ['incomplete', 'notifications', 'dismiss'],
  guide: ['listen', 'readAloud'],
  report: [
    'cancel',
    'stillTrying',
    'stopped',
    'errorSummary',
    'phoneDoubt',
    'region',
    'regionOther',
    'district',
    'districtOther',
    'selectDistrict',
    'removePhoto',
    'chosenPhoto',
    'submitting',
    'preparingPhoto',
    'uploadingPhoto',
    'sending',
  ],
  resources: [
    'featured',
    'list',
    'filters.title',
    'filters.topic',
    'filters.language',
    'filters.type',
    'filters.all',
    'filters.shown',
    'empty',
    'kept',
    'download',
    'downloads',
    'fileSize',
    'fileType',
    'reviewed',
    'notReviewed',
  ],
} as Record<string, string[]>;
const happenings = /^(errors|toasts|success)\.|^whatsapp\.message$/;

for (const { language, words, to } of inBothLanguages) {
  test(`every text of the dictionary is shown (${language})`, async ({ request }) => {
    for (const [part, paths] of Object.entries(shownAt)) {
      const pages = await Promise.all(
        paths.map(async (path) => plain(await (await request.get(to(path))).text())),
      );
      const missing = leaves(words[part as keyof typeof shownAt])
        .filter(([key]) => !happenings.test(key))
        .filter(([, text]) => !pages.some((page) => page.includes(text)))
        .map(([key]) => key);
      expect(missing.sort(), part).toEqual([...(later[part] ?? [])].sort());
    }
  });
}

/** Returns every string of a part with its dotted name. */
function leaves(value: unknown, name = ''): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  return Object.entries(value as object).flatMap(([key, each]) =>
    leaves(each, name ? `${name}.${key}` : key),
  );
}

/** Returns the attributes and the text of a page. */
function plain(html: string) {
  const decoded = html
    .replace(/<(script|style)\b.*?<\/\1>|<!--.*?-->/gs, '')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
  return `${decoded}\n${decoded.replace(/<[^>]*>/g, '')}`;
}
