import type { Page } from '@playwright/test';
import { expect, live, test } from './fixtures';
import { inBothLanguages, spokenIn } from './languages';

const confidential = [
  '/women-health/',
  '/learn/skin-cream-dangers/',
  '/learn/pregnancy-medicine/',
  '/report/',
  '/report/thank-you/',
];

for (const { language, words, to } of inBothLanguages) {
  const elsewhere = `https://${language}.wikipedia.org`;
  const exit = (page: Page) => page.getByRole('link', { name: words.layout.exit });
  const [twice = '', once = ''] = words.layout.exitSteps.split('|');

  test.describe(`quick exit in ${language}`, () => {
    test.use({ allowOrigin: elsewhere });
    test.beforeEach(({ context }) =>
      context.route(`${elsewhere}/**`, (route) => route.fulfill({ body: 'elsewhere' })),
    );

    test('is in view on every confidential page, also at its end', async ({ page }) => {
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 640 });
        for (const path of confidential) {
          await page.goto(to(path));
          await expect(exit(page), path).toBeInViewport();
          await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
          await expect(page.getByRole('contentinfo'), path).toBeInViewport();
          await expect(exit(page), path).toBeInViewport({ ratio: 1 });
          expect((await exit(page).boundingBox())?.height).toBeGreaterThanOrEqual(44);
        }
      }
      await page.goto(to('/learn/antibiotics-guide/'));
      await expect(exit(page)).toHaveCount(0);
    });

    test('comes and goes with client-side navigation', async ({ page }) => {
      await page.goto(to('/report/'));
      await live(page);
      await page.getByRole('contentinfo').getByRole('link', { name: words.layout.nav.about }).click();
      await expect(page).toHaveURL(to('/about/'));
      await expect(exit(page)).toHaveCount(0);
      await page.goBack();
      await expect(exit(page)).toBeVisible();
    });

    for (const hydrated of [false, true]) {
      test(`happens at the third Escape, which is announced, hydrated: ${hydrated}`, async ({ page }) => {
        await page.goto(to(hydrated ? '/report/' : '/women-health/'));
        if (hydrated) await live(page);
        await page.evaluate(() => {
          sessionStorage.setItem('something', 'typed');
          localStorage.setItem('daawo.resources', '[]');
        });
        const status = page.getByRole('banner').getByRole('status');
        await expect(status).toBeEmpty();
        await page.keyboard.press('Escape');
        await expect(status).toHaveText(twice);
        await page.keyboard.press('Escape');
        await expect(status).toHaveText(once);
        await page.keyboard.press('Escape');
        await page.waitForURL(`${elsewhere}/**`);
        await page.goto(to('/about/'));
        expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
      });
    }

    test('forgets an Escape after five seconds', async ({ page }) => {
      await page.clock.install();
      await page.goto(to('/women-health/'));
      const status = page.getByRole('banner').getByRole('status');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await expect(status).toHaveText(once);
      await page.clock.fastForward(6000);
      await expect(status).toBeEmpty();
      await page.keyboard.press('Escape');
      await expect(status).toHaveText(twice);
      expect(page.url()).toContain('/women-health/');
    });
  });
}

for (const { language, words, to } of spokenIn('so')) {
  const elsewhere = `https://${language}.wikipedia.org`;
  const exit = (page: Page) => page.getByRole('link', { name: words.layout.exit });

  test.describe(`after the quick exit in ${language}`, () => {
    test.use({ allowOrigin: elsewhere });
    test.beforeEach(({ context }) =>
      context.route(`${elsewhere}/**`, (route) => route.fulfill({ body: 'elsewhere' })),
    );

    test('hides the page before the other one has arrived', async ({ page }) => {
      await page.goto(to('/women-health/'));
      const visibility = await exit(page).evaluate((link: HTMLElement) => {
        link.click();
        const heading = document.querySelector('h1');
        return heading && getComputedStyle(heading).visibility;
      });
      expect(visibility).toBe('hidden');
      await page.waitForURL(`${elsewhere}/**`);
    });

    test('is not undone by going back, to this page or to an earlier one of the site', async ({ page }) => {
      await page.goto(to('/about/'));
      await page.goto(to('/women-health/'));
      await exit(page).click();
      await page.waitForURL(`${elsewhere}/**`);
      const seen: string[] = [];
      page.on('framenavigated', (frame) => seen.push(frame.url()));
      await page.evaluate(() => history.back());
      // It commits the site's page, which leaves at once.
      await expect.poll(() => seen.at(-1) ?? '').toMatch(/wikipedia/);
      expect(page.url()).toContain(elsewhere);

      await page.goto(to('/about/')); // typed in again, the site opens
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    });

    test('holds for a page from the back/forward cache', async ({ page }) => {
      await page.goto(to('/about/'));
      await page.evaluate((href) => {
        sessionStorage.left = href;
        dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
      }, `${elsewhere}/wiki/`);
      await expect(page.getByRole('heading', { level: 1 })).toBeHidden();
      await page.evaluate(() => {
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      });
      await page.waitForURL(`${elsewhere}/**`);

      await page.goto(to('/about/'));
      await page.evaluate(() => {
        dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      });
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    });
  });
}
