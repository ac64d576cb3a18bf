import { type ComponentType, createContext, use } from 'react';
import { matchRoutes, type RouteObject, useLocation } from 'react-router-dom';
import { PageDataContext } from '@/components/page-data';
import { type Language, LanguageContext, languageOf, languages, pathIn } from '@/i18n/language';
import { loadText, type Part } from '@/i18n/text';
import { SiteLayout } from '@/layout/site-layout';
import { fullStyles, isMissingPart } from '@/lib/full-styles';
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
  Screen: ComponentType;
  data: unknown;
}

/** The pages of this document by their paths: each is loaded once, the first before it is rendered. */
export class Pages {
  #pages = new Map<string, Page | Promise<Page>>();

  constructor(pathname: string, first: Page) {
    this.#pages.set(pathname, first);
  }

  at(pathname: string): Page | Promise<Page> {
    const page = this.#pages.get(pathname) ?? this.#load(pathname);
    this.#pages.set(pathname, page);
    return page;
  }

  /** Loads a page. If a file is missing, the browser loads the document, unless the reader has gone elsewhere. */
  #load(pathname: string) {
    return loadPage(pathname).catch((error) => {
      if (!isMissingPart(error)) throw error; // React renders the error more than once, so it is kept
      this.#pages.delete(pathname);
      if (location.pathname === pathname) location.reload();
      return new Promise<never>(() => {});
    });
  }
}

export const PagesContext = createContext<Pages | undefined>(undefined);

/** The page at the router's location. A navigation is a transition, so the old page stays until the new one is loaded. */
function CurrentPage() {
  const pages = use(PagesContext);
  const page = pages?.at(useLocation().pathname);
  if (!page) throw new Error('PagesContext is not set');
  const { Screen, data } = page instanceof Promise ? use(page) : page;
  return (
    <PageDataContext value={data}>
      <Screen />
    </PageDataContext>
  );
}

/** The routes of the router. Paths are case-sensitive, like those of the server, which replies to /Learn/ with the 404 page. */
export const routes = languages.map((language) => ({
  element: (
    <LanguageContext value={language}>
      <SiteLayout />
    </LanguageContext>
  ),
  children: screens.map((screen) => ({
    path: pathIn(language, screen.path),
    caseSensitive: true,
    element: <CurrentPage />,
    handle: screen,
  })),
}));

/** Loads the page of a path. */
export async function loadPage(pathname: string): Promise<Page> {
  const language = languageOf(pathname);
  const match = matchRoutes<RouteObject>(routes, pathname)?.at(-1);
  if (!match) throw new Error(`no route matches ${pathname}`);
  const { load, text, data } = match.route.handle as Screen;
  const [Screen, loaded] = await unlessFirst(
    Promise.all([
      load(),
      data?.(language, match.params),
      loadText(language, ['layout', 'unexpected-error', ...text]),
      isLive() && fullStyles(),
    ]),
  );
  return { Screen, data: loaded };
}

/** Reports whether the page is hydrated. Only navigations after that need the whole stylesheet. */
function isLive() {
  return typeof document !== 'undefined' && 'live' in document.documentElement.dataset;
}

/** Limits the time for the parts of a page, except the first: then the browser loads its document (entry-client.tsx). */
function unlessFirst<T>(work: Promise<T>) {
  return isLive() ? inTime(work, partTimeout, 'The import of a page') : work;
}
