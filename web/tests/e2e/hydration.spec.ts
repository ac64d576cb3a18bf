import { expect, hold, live, onSlowConnection, test } from './fixtures';
import { inBothLanguages, spokenIn } from './languages';
import { everyPage } from './pages';
import { reportForm } from './report-form';

test.describe('on a slow connection', () => {
  test.beforeEach(({ page }) => onSlowConnection(page));

  for (const { language, words, to } of spokenIn('en')) {
    test(`pages are not hydrated and links are plain (${language})`, async ({ page }) => {
      const scripts: string[] = [];
      page.on('request', (request) => {
        if (request.resourceType() === 'script' && !request.url().includes('sw.js'))
          scripts.push(request.url());
      });
      await page.goto(to('/'));
      await page.getByRole('navigation').getByRole('link', { name: words.layout.nav.about }).first().click();
      await expect(page).toHaveURL(new RegExp(`${to('/about/')}$`));
      await page.waitForLoadState('networkidle');
      expect(scripts).toEqual([]);
    });

    test.describe('while the application loads', () => {
      test(`the first click and the typed values are kept (${language})`, async ({ page }) => {
        // Hold the code back until the values are typed.
        const arrive = await hold(page, '**/assets/app-*.js');
        await page.goto(to('/report/'));
        await expect(page.locator('html')).not.toHaveAttribute('data-live');
        const form = reportForm(page, words.report);
        await form.product.fill('Typed early');
        await page.locator('select[name=location]').selectOption('Bari');
        await form.showOptional();
        await form.calendar.click();
        await expect(page.getByRole('dialog')).toBeHidden();
        arrive();
        await expect(page.getByRole('dialog')).toBeVisible();
        await page.keyboard.press('Escape');
        await expect(form.product).toHaveValue('Typed early');
        await expect(page.locator('[name=location]')).toHaveValue('Bari');
        await form.submit.click();
        await expect(form.summary).toBeVisible();
      });
    });
  }

  test('the application, not the browser, checks an early submit', async ({ page }) => {
    await page.goto('/report/');
    const [{ words }] = inBothLanguages as [(typeof inBothLanguages)[0]];
    const form = reportForm(page, words.report);
    await form.submit.click();
    await expect(form.summary).toBeFocused();
  });
});

test('links load no new document after hydration', async ({ page }) => {
  await page.goto('/resources/');
  await live(page);
  await page.evaluate(() => {
    document.documentElement.dataset.sameDocument = '';
  });
  for (const { path } of everyPage.filter(({ language }) => language === 'en')) {
    const link = page.locator(
      `footer a[href="${path}"], header nav:visible a[href="${path}"], main a[href="${path}"]`,
    );
    if ((await link.count()) === 0) continue;
    await link.first().click();
    await expect(page).toHaveURL(new RegExp(`${path}$`));
    await expect(page.locator(`link[rel=canonical][href$="${path}"]`)).toBeAttached();
  }
  await expect(page.locator('html[data-same-document]')).toBeAttached();
});
