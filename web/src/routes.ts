import type { ComponentType } from 'react';
import { type Language, languageOf, pathIn } from '@/i18n/language';
import { loadText, type Part } from '@/i18n/text';
import { fullStyles } from '@/lib/full-styles';
import { inTime, partTimeout } from '@/lib/in-time';

export interface Screen {
  /** English path. The Somali path is the same below /so. */
  path: string;
  /** The parts of the dictionary that the screen reads. */
  text: readonly Part[];
  load: () => Promise<ComponentType>;
  /** Loads the data that the screen reads with usePageData. */
  data?: (language: Language, params: Record<string, string | undefined>) => Promise<unknown>;
  /** Paths to prerender if the path has parameters. */
  prerender?: readonly string[];
}

/** Every path of the site and its screen. */
export const screens: readonly Screen[] = [
  {
    path: '/',
    text: ['home'],
    load: () => import('@/screens/home/home-screen').then((m) => m.HomeScreen),
  },
  {
    path: '/about/',
    text: ['about'],
    load: () => import('@/screens/about/about-screen').then((m) => m.AboutScreen),
  },
  {
    path: '/learn/',
    text: ['learn'],
    load: () => import('@/screens/learn/learn-screen').then((m) => m.LearnScreen),
    data: (language) => import('@/content/guides').then((m) => m.loadGuides(language)),
  },
  {
    path: '/learn/:slug/',
    text: ['guide'],
    load: () => import('@/screens/guide/guide-screen').then((m) => m.GuideScreen),
    data: (language, params) =>
      import('@/content/guides').then((m) => m.loadGuide(language, params.slug ?? '')),
    prerender: [
      '/learn/404/',
      '/learn/how-to-read-labels/',
      '/learn/antibiotics-guide/',
      '/learn/skin-cream-dangers/',
      '/learn/pregnancy-medicine/',
      '/learn/expired-medicines/',
      '/learn/pain-management/',
    ],
  },
  {
    path: '/women-health/',
    text: ['womens-health', 'guide'],
    load: () => import('@/screens/womens-health/womens-health-screen').then((m) => m.WomensHealthScreen),
  },
  {
    path: '/report/',
    text: ['report'],
    load: () => import('@/screens/report/report-screen').then((m) => m.ReportScreen),
  },
  {
    path: '/report/thank-you/',
    text: ['thank-you'],
    load: () => import('@/screens/thank-you/thank-you-screen').then((m) => m.ThankYouScreen),
  },
  {
    path: '/resources/',
    text: ['resources'],
    load: () => import('@/screens/resources/resources-screen').then((m) => m.ResourcesScreen),
  },
  {
    path: '/contact/',
    text: ['contact'],
    load: () => import('@/screens/contact/contact-screen').then((m) => m.ContactScreen),
  },
  {
    path: '/privacy/',
    text: ['privacy'],
    load: () => import('@/screens/privacy/privacy-screen').then((m) => m.PrivacyScreen),
  },
  {
    path: '/offline/',
    text: ['offline'],
    load: () => import('@/screens/offline/offline-screen').then((m) => m.OfflineScreen),
  },
  {
    path: '/*',
    text: ['not-found'],
    load: () => import('@/screens/not-found/not-found-screen').then((m) => m.NotFoundScreen),
    prerender: ['/404/'],
  },
];

/** A page with its code, texts and data. */
export interface Page {
  language: Language;
  Screen: ComponentType;
  data: unknown;
}

/** Loads a page. Paths are case-sensitive, like those of the server, which replies to /Learn/ with the 404 page. */
export async function loadPage(pathname: string): Promise<Page> {
  const language = languageOf(pathname);
  const { screen, params } = screenAt(pathIn('en', pathname));
  const { load, text, data } = screen;
  const [Screen, loaded] = await unlessFirst(
    Promise.all([
      load(),
      data?.(language, params),
      loadText(language, ['layout', 'unexpected-error', ...text]),
      isLive() && fullStyles(),
    ]),
  );
  return { language, Screen, data: loaded };
}

/** Returns the first screen whose path matches, and the segments of the path that have a name there. */
export function screenAt(path: string): { screen: Screen; params: Record<string, string> } {
  for (const screen of screens) {
    const pattern = screen.path.replace('*', '.*').replace(/:(\w+)/, '(?<$1>[^/]+)');
    const found = new RegExp(`^${pattern}?$`).exec(path);
    if (found) return { screen, params: { ...found.groups } };
  }
  throw new Error(`no screen at ${path}`);
}

/** Reports whether the page is hydrated. Only navigations after that need the whole stylesheet. */
function isLive() {
  return typeof document !== 'undefined' && 'live' in document.documentElement.dataset;
}

/** Limits the time for the parts of a page, except the first: then the browser loads its document (entry-client.tsx). */
function unlessFirst<T>(work: Promise<T>) {
  return isLive() ? inTime(work, partTimeout, 'The import of a page') : work;
}
