import { expect, live, test } from './fixtures';
import { inBothLanguages } from './languages';

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

test('nothing moves for a reader who asked for less motion', async ({ page }) => {
  const moving = () =>
    page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('*')]
        .map((element) => ({ element, style: getComputedStyle(element) }))
        .filter(
          ({ style }) =>
            style.scrollBehavior === 'smooth' ||
            style.animationName !== 'none' ||
            style.transitionDuration !== '0s',
        )
        .map(({ element }) => element.outerHTML.slice(0, 80)),
    );
  await page.goto('/report/');
  expect((await moving()).length).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await moving()).toEqual([]);
});

test('the site can be put on the home screen', async ({ request }) => {
  for (const path of ['/manifest.webmanifest', '/so/manifest.webmanifest']) {
    const manifest = await (await request.get(path)).json();
    for (const { src } of manifest.icons) expect((await request.get(src)).ok(), src).toBe(true);
    expect((await request.get(manifest.start_url)).ok()).toBe(true);
  }
});
