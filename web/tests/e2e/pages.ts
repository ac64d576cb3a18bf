import { inBothLanguages } from './languages';

const paths = [
  '/',
  '/about/',
  '/learn/',
  '/learn/how-to-read-labels/',
  '/learn/antibiotics-guide/',
  '/learn/skin-cream-dangers/',
  '/learn/pregnancy-medicine/',
  '/learn/expired-medicines/',
  '/learn/pain-management/',
  '/women-health/',
  '/report/',
  '/resources/',
  '/contact/',
  '/privacy/',
];

/** Every page with a link to it, in both languages. */
export const everyPage = inBothLanguages.flatMap(({ language, words, to }) =>
  paths.map((path) => ({ language, words, path: to(path) })),
);

/** All pages, including 404 pages and the page after posting the plain form. */
export const everyDocument = [
  ...everyPage,
  ...inBothLanguages.flatMap(({ language, words, to }) =>
    ['/nowhere/', '/learn/nothing/', '/report/thank-you/', '/offline/'].map((path) => ({
      language,
      words,
      path: to(path),
    })),
  ),
];
