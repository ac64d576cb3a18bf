import { readFileSync } from 'node:fs';
import type { APIRequestContext } from '@playwright/test';
import { documentAt } from './documents';
import { expect, test } from './fixtures';
import { everyDocument } from './pages';
import { admin } from './stack';

/** Links that lead nowhere, as the specification requires. */
const placeholders = ['#terms', '#accessibility'];

/** Returns every address in a page: links, images, scripts, styles, form actions and metadata. */
const naming = {
  'a, link': 'href',
  'img, iframe, audio, source, script': 'src',
  form: 'action',
  'meta[property="og:image"], meta[property="og:url"]': 'content',
  'script[data-app]': 'data-app',
  'script[data-css]': 'data-css',
  'script[data-needs]': 'data-needs',
  'script[data-wants]': 'data-wants',
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

/** Replaces values of the installation with placeholders, so that the list is the same for every installation. */
function asListed(address: string, document: Document) {
  const config = JSON.parse(document.getElementById('site-config')?.textContent ?? '{}');
  return address
    .replace(config.facebookUrl, '__FACEBOOK_URL__')
    .replace(config.url, '__SITE_URL__')
    .replace(config.contactEmail, '__CONTACT_EMAIL__')
    .replace(config.whatsappNumber, '__WHATSAPP_NUMBER__');
}

type Reader = ReturnType<typeof reader>;

/** Returns functions for the status of an address and for its document. Each address is requested once. */
function reader(request: APIRequestContext) {
  const statuses = new Map<string, Promise<number>>();
  const documents = new Map<string, Promise<Document>>();
  const once = <T>(known: Map<string, Promise<T>>, path: string, fetch: () => Promise<T>) => {
    const reply = known.get(path) ?? fetch();
    known.set(path, reply);
    return reply;
  };
  return {
    status: (path: string) =>
      once(statuses, path, async () => (await request.get(path, { maxRedirects: 0 })).status()),
    document: (path: string) => once(documents, path, () => documentAt(request, path)),
  };
}

/**
 * Checks one address of a page. Returns the address in the list of external links, or the problems with an internal
 * one.
 */
async function check(
  address: string,
  page: { path: string; document: Document; base: string },
  read: Reader,
) {
  const { path, document, base } = page;
  const { protocol, origin, pathname, search, hash } = new URL(address, new URL(path, base));
  const origins = [base, process.env.SITE_URL].filter(Boolean).map((url) => new URL(url ?? '').origin);
  if (!protocol.startsWith('http') || !origins.includes(origin))
    return { external: asListed(address, document), problems: [] };
  if (pathname.endsWith('/404/')) return { problems: [] }; // the 404 page of the other language
  const problems: string[] = [];
  const status = pathname === path ? 200 : await read.status(pathname + search);
  // The function of the form replies to a GET with a page or with 405.
  if (status !== 200 && !(status === 405 && pathname.startsWith('/functions/')))
    problems.push(`${path}: ${address} answers ${status}`);
  if (hash && !(await read.document(pathname)).getElementById(decodeURIComponent(hash.slice(1))))
    problems.push(`${path}: no element ${hash} on ${pathname}`);
  return { problems };
}

test('every internal link works and every external link is listed', async ({ request, baseURL }) => {
  test.slow(); // some hundred small requests
  const read = reader(request);
  const external = new Set<string>();
  const problems: string[] = [];
  for (const { path } of everyDocument) {
    const document = await read.document(path);
    for (const address of new Set(addressesIn(document))) {
      if (address.startsWith('data:') || placeholders.includes(address)) continue;
      const checked = await check(address, { path, document, base: baseURL ?? '' }, read);
      if (checked.external) external.add(checked.external);
      problems.push(...checked.problems);
    }
    for (const placeholder of placeholders) {
      if (document.getElementById(placeholder.slice(1))) problems.push(`${path}: ${placeholder} exists`);
    }
  }
  expect(problems).toEqual([]);
  const list = readFileSync(new URL('external-links.txt', import.meta.url), 'utf8').split('\n');
  expect([...external].sort()).toEqual(list.filter((line) => line && !line.startsWith('#')).sort());
});

test('every file in the stylesheet exists', async ({ request }) => {
  const script = (await documentAt(request, '/')).querySelector('script[data-css]');
  const css = await (await request.get(script?.getAttribute('data-css') ?? '')).text();
  expect(css.length).toBeGreaterThan(10_000);
  for (const [, address = ''] of css.matchAll(/url\((?!["']?data:)["']?([^"')]+)/g)) {
    expect((await request.get(address)).status(), address).toBe(200);
  }
});

test('every available resource is a file of its size and type', async ({ request }) => {
  // Tests of the desk that run at the same time have resources without a file.
  const { data, error } = await admin()
    .from('resources')
    .select('*')
    .eq('is_active', true)
    .like('file_url', '/storage/%');
  expect(error).toBeNull();
  const files = data ?? [];
  expect(files.length).toBeGreaterThan(5);
  for (const { file_url, file_size, file_type } of files) {
    const answer = await request.get(file_url);
    expect(answer.status(), file_url).toBe(200);
    expect(answer.headers()['content-type'], file_url).toBe(file_type);
    expect((await answer.body()).length, file_url).toBe(file_size);
  }
});
