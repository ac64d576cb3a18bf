/** A place inside the site. */
export interface Place {
  pathname: string;
  hash: string;
}

/** What the application shows: a page, or the error that kept its code from running. */
export interface Shown<Page> {
  place: Place;
  /** How the reader came: with the document, by a link, or with the browser's buttons. */
  arrival: 'document' | 'link' | 'history';
  page: Page;
  failure?: { error: unknown };
}

export interface Router<Page> {
  shown: () => Shown<Page>;
  /** Goes to an address of the site. What is shown changes when its page is loaded; a later call replaces this one. */
  navigate: (href: string) => Promise<void>;
  /** Calls the listener after each change; returns the function that unsubscribes it. */
  subscribe: (listener: () => void) => () => void;
}

interface Options<Page> {
  load: (pathname: string) => Promise<Page>;
  /** Reports whether an error means that a file is missing. The address is then loaded as a document. */
  isMissing: (error: unknown) => boolean;
  /** The page of the document. */
  first: Page;
}

/** Shows pages without new documents and follows the browser's history. There is one per document. */
export function createRouter<Page>({ load, isMissing, first }: Options<Page>): Router<Page> {
  const listeners = new Set<() => void>();
  let shown: Shown<Page> = { place: placeOf(location), arrival: 'document', page: first };
  let latest = 0;

  /** Loads the page of an address. An error is what the page then shows, unless a file is missing. */
  async function pageAt({ pathname }: Place): Promise<Pick<Shown<Page>, 'page' | 'failure'>> {
    if (pathname === shown.place.pathname) return shown; // another part of the same page
    try {
      return { page: await load(pathname) };
    } catch (error) {
      if (isMissing(error)) throw error;
      console.error(error);
      return { page: shown.page, failure: { error } };
    }
  }

  async function go(url: URL, arrival: 'link' | 'history') {
    latest += 1;
    const number = latest;
    const next = await pageAt(url).catch(() => undefined);
    if (number !== latest) return;
    if (!next) {
      if (arrival === 'link') location.assign(url);
      else location.reload();
      return;
    }
    if (arrival === 'link' && url.href !== location.href) history.pushState(null, '', url);
    shown = { place: placeOf(url), arrival, page: next.page, failure: next.failure };
    for (const listener of listeners) listener();
  }

  addEventListener('popstate', () => void go(new URL(location.href), 'history'));
  return {
    shown: () => shown,
    navigate: (href) => go(new URL(href, location.href), 'link'),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function placeOf({ pathname, hash }: Place): Place {
  return { pathname, hash };
}
