import { readFileSync } from 'node:fs';
import type { APIRequestContext } from '@playwright/test';
import { documentAt } from './documents';
import { expect, test } from './fixtures';
import { everyDocument } from './pages';
import { admin } from './stack';

/** Links that the specification wants to go nowhere. */
const placeholders = ['#terms', '#accessibility'];

/** Everything that a page names: what it leads to, shows, loads, posts to and says of itself to others. */
const naming = {
  'a, link': 'href',
  'img, iframe, audio, source, script': 'src',
  form: 'action',
  'meta[property="og:image"], meta[property="og:url"]': 'content',
  'script[data-app]': 'data-app',
  'script[data-css]': 'data-css',
  'script[data-preload]': 'data-preload',
  'script[data-late]': 'data-late',
};

function addressesIn(document: Document) {
  return Object.entries(naming).flatMap(([selector, attribute]) =>
    [...document.querySelectorAll(selector)].flatMap((element) => {
      const value = element.getAttribute(attribute) ?? '';
      return attribute.startsWith('data-') ? value.split(' ') : value || [];
    }),
  );
}

/** What the installation set, by its placeholder: the list is the same for every one. */
function asListed(address: string, document: Document) {
  const config = JSON.parse(document.getElementById('site-config')?.textContent ?? '{}');
  return address
    .replace(config.facebookUrl, '__FACEBOOK_URL__')
    .replace(config.contactEmail, '__CONTACT_EMAIL__')
    .replace(config.whatsappNumber, '__WHATSAPP_NUMBER__');
}

/** Asks for each address once, and for a document's names when a link leads to one. */
function reader(request: APIRequestContext) {
  const answers = new Map<string, Promise<number>>();
  const documents = new Map<string, Promise<Document>>();
  const once = <T>(kept: Map<string, Promise<T>>, path: string, ask: () => Promise<T>) => {
    const answer = kept.get(path) ?? ask();
    kept.set(path, answer);
    return answer;
  };
  return {
    status: (path: string) =>
      once(answers, path, async () => (await request.get(path, { maxRedirects: 0 })).status()),
    document: (path: string) => once(documents, path, () => documentAt(request, path)),
  };
}

test('every link inside leads somewhere, and every link outside is listed', async ({ request, baseURL }) => {
  test.slow(); // some hundred small requests
  const origins = [baseURL, process.env.SITE_URL].filter(Boolean).map((url) => new URL(url ?? '').origin);
  const read = reader(request);
  const outside = new Set<string>();
  const broken: string[] = [];
  for (const { path } of everyDocument) {
    const document = await read.document(path);
    for (const address of new Set(addressesIn(document))) {
      if (address.startsWith('data:') || placeholders.includes(address)) continue;
      const { protocol, origin, pathname, search, hash } = new URL(address, new URL(path, baseURL));
      if (!protocol.startsWith('http') || !origins.includes(origin)) {
        outside.add(asListed(address, document));
        continue;
      }
      if (pathname.endsWith('/404/')) continue; // the other language's missing page
      const status = pathname === path ? 200 : await read.status(pathname + search);
      // The form's function answers a reader who only looks with a page, or with the methods that it takes.
      if (status !== 200 && !(status === 405 && pathname.startsWith('/functions/')))
        broken.push(`${path}: ${address} answers ${status}`);
      if (hash && !(await read.document(pathname)).getElementById(decodeURIComponent(hash.slice(1))))
        broken.push(`${path}: nothing is named ${hash} on ${pathname}`);
    }
    for (const nowhere of placeholders) {
      if (document.getElementById(nowhere.slice(1))) broken.push(`${path}: ${nowhere} goes somewhere`);
    }
  }
  expect(broken).toEqual([]);
  const list = readFileSync(new URL('external-links.txt', import.meta.url), 'utf8').split('\n');
  expect([...outside].sort()).toEqual(list.filter((line) => line && !line.startsWith('#')).sort());
});

test('what the stylesheet names is there', async ({ request }) => {
  const script = (await documentAt(request, '/')).querySelector('script[data-css]');
  const css = await (await request.get(script?.getAttribute('data-css') ?? '')).text();
  expect(css.length).toBeGreaterThan(10_000);
  for (const [, address = ''] of css.matchAll(/url\((?!["']?data:)["']?([^"')]+)/g)) {
    expect((await request.get(address)).status(), address).toBe(200);
  }
});

test('every resource is a file of its size and type, or is still to come', async ({ request }) => {
  const { data, error } = await admin().from('resources').select('*').eq('is_active', true);
  expect(error).toBeNull();
  const files = (data ?? []).filter(({ file_url }) => file_url !== '#');
  expect(files.length).toBeGreaterThan(5);
  for (const { file_url, file_size, file_type } of files) {
    const answer = await request.get(file_url);
    expect(answer.status(), file_url).toBe(200);
    expect(answer.headers()['content-type'], file_url).toBe(file_type);
    expect((await answer.body()).length, file_url).toBe(file_size);
  }
});
