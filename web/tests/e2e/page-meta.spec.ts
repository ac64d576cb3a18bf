import { expect, onSlowLine, test } from './fixtures';
import { everyDocument, everyPage } from './pages';

const locales = { en: 'en_US', so: 'so_SO' };

for (const { path, language } of everyPage) {
  test(`${path} describes itself to search engines and to those it is shared with`, async ({
    page,
    baseURL,
    request,
  }) => {
    const origin = baseURL ?? '';
    await onSlowLine(page);
    await page.goto(path);
    const english = path.replace(/^\/so\//, '/');
    const somali = `/so${english}`;
    const meta = (name: string) => page.locator(`meta[name="${name}"], meta[property="${name}"]`);
    const link = (selector: string) => page.locator(`link${selector}`);

    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page).toHaveTitle(/\S · Daawo$/);
    await expect(meta('description')).toHaveAttribute('content', /^.{20,300}$/);
    await expect(link('[rel=canonical]')).toHaveAttribute('href', origin + path);
    await expect(link('[hreflang=en]')).toHaveAttribute('href', origin + english);
    await expect(link('[hreflang=so]')).toHaveAttribute('href', origin + somali);
    await expect(link('[hreflang=x-default]')).toHaveAttribute('href', origin + english);
    await expect(meta('robots')).toHaveCount(0);

    await expect(meta('og:url')).toHaveAttribute('content', origin + path);
    await expect(meta('og:locale')).toHaveAttribute('content', locales[language]);
    await expect(meta('og:locale:alternate')).toHaveAttribute(
      'content',
      locales[language === 'en' ? 'so' : 'en'],
    );
    await expect(meta('twitter:card')).toHaveAttribute('content', 'summary_large_image');
    const title = (await page.title()).replace(/ · Daawo$/, '');
    await expect(meta('og:title')).toHaveAttribute('content', title);

    const address = (await meta('og:image').getAttribute('content')) ?? '';
    const picture = await (await request.get(address)).body();
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1200, 630]);

    for (const block of await page.locator('script[type="application/ld+json"]').allTextContents()) {
      expect(JSON.parse(block)).toMatchObject({ '@context': 'https://schema.org' });
    }
  });
}

test('guides and the home page say what they are in JSON-LD', async ({ page }) => {
  await onSlowLine(page);
  const types = async (path: string) => {
    await page.goto(path);
    const blocks = await page.locator('script[type="application/ld+json"]').allTextContents();
    return blocks.map((block) => JSON.parse(block)['@type']);
  };
  expect(await types('/')).toEqual(['NGO']);
  expect(await types('/so/learn/pain-management/')).toEqual(['MedicalWebPage']);
});

test('titles and descriptions are all different', async ({ request }) => {
  const heads = await Promise.all(everyPage.map(async ({ path }) => (await request.get(path)).text()));
  const titles = heads.map((html) => /<title>(.*?)<\/title>/.exec(html)?.[1]);
  const descriptions = heads.map((html) => /<meta name="description" content="(.*?)"/.exec(html)?.[1]);
  expect(new Set(titles).size).toBe(everyPage.length);
  expect(new Set(descriptions).size).toBe(everyPage.length);
});

test('pages reached by accident are kept out of search engines and of the sitemap', async ({
  page,
  request,
}) => {
  const reachable = new Set(everyPage.map(({ path }) => path));
  const accidental = everyDocument.map(({ path }) => path).filter((path) => !reachable.has(path));
  expect(accidental).toHaveLength(6);
  const sitemap = await (await request.get('/sitemap.xml')).text();
  for (const path of accidental) {
    await page.goto(path);
    await expect(page.locator('meta[name=robots]')).toHaveAttribute('content', 'noindex');
    await expect(page.locator('link[rel=canonical]')).toHaveCount(0);
    expect(sitemap).not.toContain(path);
  }
  for (const path of reachable) expect(sitemap).toContain(`${path}<`);
});
