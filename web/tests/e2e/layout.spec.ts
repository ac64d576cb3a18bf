import { expect, live, test } from './fixtures';
import { inBothLanguages } from './languages';
import { everyDocument, everyPage } from './pages';

const headerLinks = [
  ['home', '/'],
  ['learn', '/learn/'],
  ['womensHealth', '/women-health/'],
  ['report', '/report/'],
  ['resources', '/resources/'],
  ['about', '/about/'],
  ['contact', '/contact/'],
] as const;

for (const { language, words, to } of inBothLanguages) {
  const text = words.layout;

  test(`header and footer lead everywhere (${language})`, async ({ page }) => {
    await page.goto(to('/learn/how-to-read-labels/'));
    const header = page
      .getByRole('banner')
      .getByRole('navigation', { name: text.mainNavigation })
      .getByRole('link');
    await expect(header).toHaveText(headerLinks.map(([name]) => text.nav[name]));
    for (const [i, [, path]] of headerLinks.entries()) {
      await expect(header.nth(i)).toHaveAttribute('href', to(path));
      const current = path === '/learn/' ? 'page' : null;
      expect(await header.nth(i).getAttribute('aria-current')).toBe(current);
    }
    const footer = page.getByRole('contentinfo');
    const links = footer.getByRole('navigation', { name: text.footer.pages }).getByRole('link');
    await expect(links).toHaveText([...headerLinks.map(([name]) => text.nav[name]), text.nav.privacy]);
    await expect(links.last()).toHaveAttribute('href', to('/privacy/'));
    await expect(footer.getByRole('link', { name: text.footer.whatsapp })).toHaveAttribute(
      'href',
      /^https:\/\/wa\.me\//,
    );
    await expect(footer.getByRole('link', { name: text.footer.email })).toHaveAttribute('href', /^mailto:/);
    for (const name of [text.footer.terms, text.footer.accessibility]) {
      await footer.getByRole('link', { name }).click();
      await expect(page).toHaveURL(/how-to-read-labels\/(#.*)?$/);
    }
    await expect(footer.getByText(text.footer.disclaimer)).toBeVisible();
  });

  test(`the header stays in sight (${language})`, async ({ page }) => {
    await page.goto(to('/'));
    await page.evaluate(() => scrollTo(0, 3000));
    await expect(page.getByRole('banner')).toBeInViewport();
  });
}

test('the language switch keeps the page, in both directions', async ({ page }) => {
  const [en, so] = inBothLanguages;
  await page.goto('/learn/pain-management/');
  await page.getByRole('banner').getByRole('link', { name: en?.words.layout.switchLanguage }).click();
  await expect(page).toHaveURL(/\/so\/learn\/pain-management\/$/);
  await page.getByRole('banner').getByRole('link', { name: so?.words.layout.switchLanguage }).click();
  await expect(page).toHaveURL(/\/learn\/pain-management\/$/);
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await page.goto('/');
  await page.getByRole('banner').getByRole('link', { name: en?.words.layout.switchLanguage }).click();
  await expect(page).toHaveURL(/\/so\/$/);
});

test('on a missing page the language switch keeps the path once the page is live', async ({ page }) => {
  await page.goto('/no/such/page/');
  await live(page);
  await expect(page.getByRole('banner').getByRole('link', { name: 'Soomaali' })).toHaveAttribute(
    'href',
    '/so/no/such/page/',
  );
});

test('every page describes itself to search engines and shared links', async ({ request, baseURL }) => {
  const titles = new Set<string>();
  const site = process.env.SITE_URL ?? baseURL;
  for (const { path, language } of everyPage) {
    const html = await (await request.get(path)).text();
    const plain = path.replace(/^\/so\//, '/');
    const has = (tag: string) => expect(html, path).toContain(tag);
    const content = (key: string) => new RegExp(`${key}" content="([^"]+)"`).exec(html)?.[1] ?? '';
    titles.add(/<title>(.*?)<\/title>/.exec(html)?.[1] ?? '');
    expect(content('name="description'), path).toMatch(/.{30,}/);
    has(`<link rel="canonical" href="${site}${path}"`);
    has(`hrefLang="en" href="${site}${plain}"`);
    has(`hrefLang="so" href="${site}/so${plain}"`);
    has(`hrefLang="x-default" href="${site}${plain}"`);
    has(`<meta property="og:locale" content="${language === 'so' ? 'so_SO' : 'en_US'}"`);
    has(`<meta property="og:locale:alternate" content="${language === 'so' ? 'en_US' : 'so_SO'}"`);
    has('<meta name="twitter:card" content="summary_large_image"');
    const picture = await request.get(new URL(content('property="og:image')).pathname);
    expect(picture.headers()['content-type'], path).toBe('image/png');
    expect(html, path).not.toMatch(/__[A-Z_]+__/);
  }
  expect(titles.size).toBe(everyPage.length);
});

test('the site map lists every page, and pages that are reached by accident are kept out of search', async ({
  request,
}) => {
  const map = await (await request.get('/sitemap.xml')).text();
  const listed = [...map.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = '']) => new URL(url).pathname);
  expect(listed.sort()).toEqual(everyPage.map(({ path }) => path).sort());
  expect(await (await request.get('/robots.txt')).text()).toMatch(/Sitemap: https?:\/\/\S+\/sitemap\.xml/);
  for (const { path } of everyDocument.slice(everyPage.length)) {
    expect(await (await request.get(path)).text(), path).toContain('<meta name="robots" content="noindex"');
  }
});

test('the site can be put on the home screen', async ({ request }) => {
  for (const path of ['/manifest.webmanifest', '/so/manifest.webmanifest']) {
    const manifest = await (await request.get(path)).json();
    for (const { src } of manifest.icons) expect((await request.get(src)).ok(), src).toBe(true);
    expect((await request.get(manifest.start_url)).ok()).toBe(true);
  }
});
