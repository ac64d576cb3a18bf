import type { APIRequestContext } from '@playwright/test';
import { expect, test } from './fixtures';
import { everyDocument, everyPage } from './pages';

const locales = { en: 'en_US', so: 'so_SO' };

/** Returns the metadata of a page without running scripts, as search engines and messengers read it. */
async function headOf(request: APIRequestContext, path: string) {
  const html = await (await request.get(path)).text();
  const tags = (name: string) =>
    [...html.matchAll(new RegExp(`<${name} ([^>]*?)/?>`, 'g'))].map(([, text = '']) =>
      Object.fromEntries(
        [...text.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
          key.toLowerCase(),
          value,
        ]),
      ),
    );
  return {
    html,
    title: /<title>(.*?)<\/title>/.exec(html)?.[1] ?? '',
    meta: (name: string) =>
      tags('meta')
        .filter((tag) => tag.name === name || tag.property === name)
        .map(({ content }) => content),
    link: (key: 'rel' | 'hreflang', value: string) =>
      tags('link')
        .filter((tag) => tag[key] === value)
        .map(({ href }) => href),
    jsonLd: [...html.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/g)].map(([, json = '']) =>
      JSON.parse(json),
    ),
  };
}

test('every page has metadata for search engines and social networks', async ({ request, baseURL }) => {
  const site = process.env.SITE_URL ?? baseURL ?? '';
  const titles = new Set<string>();
  const descriptions = new Set<string | undefined>();
  for (const { path, language } of everyPage) {
    const { html, title, meta, link, jsonLd } = await headOf(request, path);
    const english = path.replace(/^\/so\//, '/');
    const says = (name: string, content: string | RegExp) =>
      expect(meta(name), `${path} ${name}`).toEqual([
        typeof content === 'string' ? content : expect.stringMatching(content),
      ]);
    expect(html, path).toContain(`<html lang="${language}"`);
    expect(html, path).not.toMatch(/__[A-Z_]+__/);
    expect(title, path).toMatch(/\S · Daawo$/);
    expect(link('rel', 'canonical'), path).toEqual([site + path]);
    expect(link('hreflang', 'en'), path).toEqual([site + english]);
    expect(link('hreflang', 'so'), path).toEqual([`${site}/so${english}`]);
    expect(link('hreflang', 'x-default'), path).toEqual([site + english]);
    expect(meta('robots'), path).toEqual([]);
    says('description', /^.{30,300}$/);
    says('og:url', site + path);
    says('og:title', title.replace(/ · Daawo$/, ''));
    says('og:locale', locales[language]);
    says('og:locale:alternate', locales[language === 'en' ? 'so' : 'en']);
    says('twitter:card', 'summary_large_image');
    const picture = await (await request.get(new URL(meta('og:image')[0] ?? '').pathname)).body();
    expect(picture.subarray(1, 4).toString(), path).toBe('PNG');
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)], path).toEqual([1200, 630]);
    for (const block of jsonLd) expect(block).toMatchObject({ '@context': 'https://schema.org' });
    titles.add(title);
    descriptions.add(meta('description')[0]);
  }
  expect(titles.size).toBe(everyPage.length);
  expect(descriptions.size).toBe(everyPage.length);
});

test('guides and the home page have JSON-LD', async ({ request }) => {
  const types = async (path: string) => (await headOf(request, path)).jsonLd.map((block) => block['@type']);
  expect(await types('/')).toEqual(['NGO']);
  expect(await types('/so/learn/pain-management/')).toEqual(['MedicalWebPage']);
});

test('the sitemap has every page except 404, offline and thank-you pages', async ({ request }) => {
  const map = await (await request.get('/sitemap.xml')).text();
  const listed = [...map.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = '']) => new URL(url).pathname);
  const reachable = everyPage.map(({ path }) => path);
  expect(listed.sort()).toEqual([...reachable].sort());
  expect(await (await request.get('/robots.txt')).text()).toMatch(/Sitemap: https?:\/\/\S+\/sitemap\.xml/);
  const accidental = everyDocument.map(({ path }) => path).filter((path) => !reachable.includes(path));
  expect(accidental).toHaveLength(8);
  for (const path of accidental) {
    const { meta, link } = await headOf(request, path);
    expect(meta('robots'), path).toEqual(['noindex']);
    expect(link('rel', 'canonical'), path).toEqual([]);
  }
});
