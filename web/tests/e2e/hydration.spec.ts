import { expect, hold, live, onSlowLine, test } from './fixtures';
import { inBothLanguages } from './languages';
import { everyPage } from './pages';
import { reportForm } from './report-form';

test.describe('on a slow line', () => {
  test.beforeEach(({ page }) => onSlowLine(page));

  for (const { language, words, to } of inBothLanguages) {
    test(`pages stay as they are and links are plain (${language})`, async ({ page }) => {
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

    test.describe('while the application is held back', () => {
      test(`the first press on the form is not lost, nor what was typed before (${language})`, async ({
        page,
      }) => {
        // Held back until the reader has typed: the press must wait for it.
        const arrive = await hold(page, '**/assets/app-*.js');
        await page.goto(to('/report/'));
        await expect(page.locator('html')).not.toHaveAttribute('data-live');
        const form = reportForm(page, words.report);
        await form.product.fill('Typed early');
        await page.locator('select[name=location]').selectOption('Bari');
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

  test('a submit pressed first is checked by the application, not by the browser', async ({ page }) => {
    await page.goto('/report/');
    const [{ words }] = inBothLanguages as [(typeof inBothLanguages)[0]];
    const form = reportForm(page, words.report);
    await form.submit.click();
    await expect(form.summary).toBeFocused();
  });
});

test('once live, links are followed without a new document', async ({ page }) => {
  await page.goto('/');
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
