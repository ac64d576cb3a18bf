import { documentAt, words as textOf } from './documents';
import { expect, live, onSlowConnection, test } from './fixtures';
import { inBothLanguages } from './languages';
import { everyDocument } from './pages';

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
  const names = headerLinks.map(([name]) => text.nav[name]);
  const hrefs = headerLinks.map(([, path]) => to(path));

  test(`every page has header, footer and disclaimer, and no login (${language})`, async ({ request }) => {
    for (const { path } of everyDocument.filter((each) => each.language === language)) {
      const page = await documentAt(request, path);
      const all = <T extends Element>(selector: string) => [...page.querySelectorAll<T>(selector)];
      const href = (link: Element) => link.getAttribute('href');

      const menus = all(`header nav[aria-label="${text.mainNavigation}"]`);
      expect(menus, path).toHaveLength(2); // one for wide screens, one in the menu
      for (const menu of menus) {
        const links = [...menu.querySelectorAll('a')];
        expect(links.map(textOf), path).toEqual(names);
        expect(links.map(href), path).toEqual(hrefs);
        const here = headerLinks.findLast(([name, under]) =>
          name === 'home' ? path === to('/') : path.startsWith(to(under)),
        );
        const current = links.filter((link) => link.hasAttribute('aria-current'));
        expect(current.map(textOf), path).toEqual(here ? [text.nav[here[0]]] : []);
      }
      const missing = /nowhere|nothing/.test(path);
      const other = language === 'en' ? `/so${path}` : path.replace(/^\/so/, '');
      const switches = all(`header a[hreflang]`);
      expect(switches.map(textOf), path).toEqual([
        `${language === 'en' ? 'so' : 'en'}${text.switchLanguage}`,
      ]);
      // The accessible name contains the visible text (WCAG 2.5.3).
      expect(
        switches.flatMap((each) => [...each.querySelectorAll('[aria-hidden]')]),
        path,
      ).toEqual([]);
      if (!missing) expect(switches.map(href), path).toEqual([other]);

      const links = all(`footer nav[aria-labelledby="pages"] a`);
      expect(links.map(textOf), path).toEqual([...names, text.nav.privacy]);
      expect(links.map(href), path).toEqual([...hrefs, to('/privacy/')]);
      const support = all('footer a').filter((link) => !links.includes(link));
      const { whatsapp, email, terms, accessibility, disclaimer } = text.footer;
      expect(support.map(textOf), path).toEqual([whatsapp, email, terms, accessibility]);
      expect(href(support[0] as Element), path).toMatch(/^https:\/\/wa\.me\/\d+$/);
      expect(href(support[1] as Element), path).toMatch(/^mailto:\S+@\S+$/);
      expect(textOf(page.querySelector('footer')), path).toContain(disclaimer);
      expect(all('input[type=password]'), path).toEqual([]);
    }
  });

  test(`the active link is highlighted and placeholder links go nowhere (${language})`, async ({ page }) => {
    await page.goto(to('/learn/how-to-read-labels/'));
    const links = page.getByRole('banner').getByRole('navigation').getByRole('link');
    await expect(links).toHaveText(names);
    const looks = await links.evaluateAll((all) =>
      all.map((link) => {
        const { backgroundColor, color, fontWeight } = getComputedStyle(link);
        return [backgroundColor, color, fontWeight].join();
      }),
    );
    const at = headerLinks.findIndex(([name]) => name === 'learn');
    const [active] = looks.splice(at, 1);
    expect(new Set(looks).size).toBe(1);
    expect(looks).not.toContain(active);

    const footer = page.getByRole('contentinfo');
    for (const name of [text.footer.terms, text.footer.accessibility]) {
      await footer.getByRole('link', { name }).click();
      await expect(page).toHaveURL(/how-to-read-labels\/(#.*)?$/);
    }
    const other = language === 'en' ? /^SO\b/ : /^EN\b/;
    await expect(page.getByRole('banner').locator('a[hreflang]')).toHaveText(other, { useInnerText: true });
  });

  test(`the header with links fits one line and is sticky (${language})`, async ({ page }) => {
    for (const width of [1024, 1280]) {
      await page.setViewportSize({ width, height: 720 });
      await page.goto(to('/women-health/')); // the longest text, active
      const links = page.getByRole('banner').getByRole('link').and(page.locator(':not([data-quick-exit])')); // it has a line of its own
      await expect(links).toHaveCount(9);
      const middles = await links.evaluateAll((all) =>
        all.map((link) => {
          const { top, bottom, height } = link.getBoundingClientRect();
          return height > 50 ? 'two lines' : Math.round((top + bottom) / 2);
        }),
      );
      expect(new Set(middles).size, `${width} px`).toBe(1);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await page.evaluate(() => scrollTo(0, 3000));
    await expect(page.getByRole('banner')).toBeInViewport();
  });
}

test('the language switch keeps the page', async ({ page }) => {
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

test.describe('menu on a narrow screen', () => {
  test.use({ viewport: { width: 360, height: 640 } });

  test('closes when the focus leaves it, before hydration', async ({ page }) => {
    await onSlowConnection(page);
    await page.goto('/learn/');
    const menu = page.locator('header details');
    await menu.locator('summary').focus();
    await page.keyboard.press('Enter');
    await expect(menu).toHaveAttribute('open');
    for (const link of await menu.getByRole('link').all()) {
      await page.keyboard.press('Tab');
      await expect(link).toBeFocused();
    }
    await page.keyboard.press('Tab');
    await expect(menu).not.toHaveAttribute('open');
    await expect(page.getByRole('main').locator(':focus')).toBeInViewport();
  });

  for (const { language, words, to } of inBothLanguages) {
    test(`opens, and closes when a link is chosen (${language})`, async ({ page }) => {
      await page.goto(to('/resources/'));
      await live(page);
      const menu = page.locator('header details');
      const links = menu.getByRole('link');
      await expect(links).toHaveCount(0);
      await menu.locator('summary').click();
      await expect(links).toHaveCount(7);
      await menu.locator('summary').click();
      await expect(links).toHaveCount(0);
      await menu.locator('summary').click();
      await links.filter({ hasText: words.layout.nav.about }).click();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(words.about.heading);
      await expect(menu).not.toHaveAttribute('open');
    });
  }

  test('closes at Escape and moves the focus to its toggle', async ({ page }) => {
    await page.goto('/learn/');
    const menu = page.locator('header details');
    const summary = menu.locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await expect(menu).not.toHaveAttribute('open');
    await expect(summary).toBeFocused();
  });
});

test('the language switch keeps the path of a missing page', async ({ page }) => {
  await page.goto('/no/such/page/');
  await expect(page.getByRole('banner').getByRole('link', { name: 'Soomaali' })).toHaveAttribute(
    'href',
    '/so/no/such/page/',
  );
});

test('reduced motion stops all animations', async ({ page }) => {
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

test('the site has a web app manifest', async ({ request }) => {
  for (const path of ['/manifest.webmanifest', '/so/manifest.webmanifest']) {
    const manifest = await (await request.get(path)).json();
    const page = await documentAt(request, manifest.start_url);
    const ground = page.querySelector('meta[name=theme-color]')?.getAttribute('content'); // the light theme
    expect(ground).toBe(manifest.background_color);
    for (const { src } of manifest.icons) expect((await request.get(src)).ok(), src).toBe(true);
    expect((await request.get(manifest.start_url)).ok()).toBe(true);
  }
});
