/// <reference lib="webworker" />
/*
 * Caches every page of one language for offline reading, and the scripts and pictures of visited pages. There is one
 * worker per language, at /sw.js and /so/sw.js. It handles only GET requests, so it never stores a report.
 */
declare const self: ServiceWorkerGlobalScope & {
  /** The pages of this language and their hashes. The build inserts them after prerendering. */
  __WB_MANIFEST: { url: string; revision: string | null }[];
};

const pages = self.__WB_MANIFEST;
// The gateway fills these placeholders. If a value changes, this file changes and the browser fetches the pages again.
const installation = '__SITE_URL__ __WHATSAPP_NUMBER__ __CONTACT_EMAIL__ __FACEBOOK_URL__';
const scope = new URL(self.registration.scope).pathname;
const pageCache = `pages ${scope} ${pages.map(({ revision }) => revision?.slice(0, 6)).join('')} ${installation}`;
const fileCache = `files ${scope}`;
const keptFiles = 80;

self.addEventListener('install', (event) => {
  const { connection } = self.navigator as { connection?: { saveData?: boolean } };
  if (!connection?.saveData) event.waitUntil(keepPages());
  self.skipWaiting();
});

async function keepPages() {
  const cache = await caches.open(pageCache);
  // One at a time, so that a slow connection stays free for the reader's own requests.
  for (const { url } of pages) {
    const response = await fetch(url, { cache: 'no-cache' });
    if (!response.ok) throw new Error(`${url}: ${response.status}`); // the next visit tries again
    await cache.put(url, response);
  }
}

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      const mine = (name: string) => name.startsWith(`pages ${scope} `) && name !== pageCache;
      await Promise.all((await caches.keys()).filter(mine).map((name) => caches.delete(name)));
      await self.clients.claim();
    })(),
  );
});

/** Caches the files that a page names: those that it has loaded and those that it may load later (boot.ts). */
self.addEventListener('message', (event) => {
  const urls = (event.data as string[]).map((url) => new URL(url, self.location.href));
  const files = new Set(urls.filter(isFile).map(({ href }) => href));
  event.waitUntil(Promise.allSettled([...files].map(file)));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  if (request.mode === 'navigate') event.respondWith(page(request, url));
  else if (isFile(url)) event.respondWith(file(request));
});

/** Returns a page from the cache. A new version arrives when the browser finds a change in this file. */
async function page(request: Request, { pathname }: URL): Promise<Response> {
  const cache = await caches.open(pageCache);
  const kept = await cache.match(pathname);
  if (kept) return kept;
  const response = await fetch(request);
  // With data saving on, pages were not fetched in advance: cache each visited page, if storage is not full.
  if (response.ok && pages.some(({ url }) => url === pathname))
    await cache.put(pathname, response.clone()).catch(() => {});
  return response;
}

/** Reports whether a file is a picture or has its hash in its name. */
function isFile({ origin, pathname }: URL) {
  return origin === self.location.origin && /^\/(assets|flags)\/|\.(svg|png|webmanifest)$/.test(pathname);
}

async function file(request: Request | string): Promise<Response> {
  return (await caches.match(request)) ?? keepFile(request);
}

async function keepFile(request: Request | string): Promise<Response> {
  const response = await fetch(request);
  if (!response.ok) return response;
  try {
    const cache = await caches.open(fileCache);
    await cache.put(request, response.clone());
    const keys = await cache.keys();
    await Promise.all(keys.slice(0, -keptFiles).map((key) => cache.delete(key)));
  } catch {
    // Storage is full. The page gets its file anyway.
  }
  return response;
}

export {};
