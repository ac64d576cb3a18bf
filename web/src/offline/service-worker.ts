/// <reference lib="webworker" />
/*
 * Keeps one fixed set of files for offline reading: the pages of one language, the home page of the other, a page that
 * says that the connection failed, and the code of the form and of the list. The set is the same whatever the reader has
 * visited, so it does not tell. There is one worker per language, at /sw.js and /so/sw.js. It handles only GET requests,
 * so it never stores a report.
 */
declare const self: ServiceWorkerGlobalScope & {
  /** The files to keep and their hashes. The build inserts them after prerendering (scripts/service-worker.ts). */
  __WB_MANIFEST: { url: string; revision: string | null }[];
};

const everything = self.__WB_MANIFEST;
// The gateway fills these placeholders. If a value changes, this file changes and the browser fetches the pages again.
const installation =
  '__TEXTS_VERSION__ __SITE_URL__ __WHATSAPP_NUMBER__ __CONTACT_EMAIL__ __FACEBOOK_URL__ __ORGANISATION_PEOPLE__ __ORGANISATION_ADDRESS__ ' +
  '__ORGANISATION_PARTNERS__ __ORGANISATION_REVIEWERS__';
const scope = new URL(self.registration.scope).pathname;
const { connection } = self.navigator as { connection?: { saveData?: boolean } };

/**
 * Whether to keep only the home pages and the offline pages: the reader saves data, or reads Somali, where the worker of
 * / is only for the language switch (boot/service-worker.ts).
 */
const few = connection?.saveData || self.location.search === '?few';
const kept = few ? everything.filter(({ url }) => /^\/(so\/)?(offline\/)?$/.test(url)) : everything;
const revisions = kept.map(({ revision }) => revision?.slice(0, 6)).join('');
const cacheName = `kept ${scope} ${revisions} ${installation}`;

self.addEventListener('install', (event) => {
  event.waitUntil(keep());
  self.skipWaiting();
});

async function keep() {
  const cache = await caches.open(cacheName);
  // One at a time, so that a slow connection stays free for the reader's own requests.
  for (const { url } of kept) {
    const known = isHashed(url) && (await caches.match(url));
    const response = known || (await fetch(url, { cache: isHashed(url) ? 'default' : 'no-cache' }));
    if (!response.ok) throw new Error(`${url}: ${response.status}`); // the next visit tries again
    await cache.put(url, response);
  }
}

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      // Earlier versions had caches named "pages" and "files".
      const old = (name: string) => /^(kept|pages|files) /.test(name) && name.split(' ')[1] === scope;
      const names = (await caches.keys()).filter((name) => old(name) && name !== cacheName);
      await Promise.all(names.map((name) => caches.delete(name)));
      await self.clients.claim();
    })(),
  );
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin || /\/v1\//.test(url.pathname)) return;
  if (request.mode === 'navigate') event.respondWith(page(request, url));
  else if (everything.some(({ url: path }) => path === url.pathname)) event.respondWith(file(request));
});

/** Returns a page from the cache. A new version arrives when the browser finds a change in this file. */
async function page(request: Request, { pathname }: URL): Promise<Response> {
  const cache = await caches.open(cacheName);
  const known = await cache.match(pathname);
  if (known) return known;
  try {
    return await fetch(request);
  } catch (error) {
    const whole = `${pathname}/`;
    if (await cache.match(whole)) return Response.redirect(whole);
    const offline = await cache.match(/^\/so(\/|$)/.test(pathname) ? '/so/offline/' : '/offline/');
    if (!offline) throw error;
    return offline;
  }
}

async function file(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/** Reports whether the file's name changes with its content. */
function isHashed(url: string) {
  return url.startsWith('/assets/');
}

export {};
