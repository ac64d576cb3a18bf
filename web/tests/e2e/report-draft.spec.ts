import { expect, hold, live, test } from './fixtures';
import { spokenIn } from './languages';
import { openForm, reportForm } from './report-form';

for (const { language, words, to } of spokenIn('en')) {
  const text = words.report;

  test.describe(`the draft in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('survives a change of language and ends when it is cleared', async ({ page }) => {
      const form = reportForm(page, text);
      await form.product.fill('Draft cream');
      await form.country.selectOption('254');
      await form.chooseRegion('Bari (Bari)');
      await page.getByRole('link', { name: words.layout.switchLanguage }).click();
      await live(page);
      await expect(page.locator('[name=product_name]')).toHaveValue('Draft cream');
      await expect(page.locator('[name=country]')).toHaveValue('254');
      await expect(page.locator('[name=location]')).toHaveValue('Bari');
      expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('Draft cream');

      await page.goBack();
      await live(page);
      await form.clear.click();
      await expect(form.product).toHaveValue('');
      await page.reload();
      await live(page);
      await expect(form.product).toHaveValue('');
      expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Draft cream');
    });

    test.describe('with late code of the place list', () => {
      test('does not move the focus', async ({ page }) => {
        const form = reportForm(page, text);
        await form.chooseRegion('Bari (Bari)');
        const release = await hold(page, '**/assets/place-select-*');
        await page.reload();
        await live(page);
        await form.region.focus();
        await expect(form.region).toHaveText('Bari');
        release();
        await expect(form.region).toHaveText('Bari (Bari)');
        await expect(form.region).toBeFocused();
      });
    });

    test('ends in a page from the back/forward cache too', async ({ page }) => {
      const form = reportForm(page, text);
      await form.product.fill('Secret');
      await page.evaluate(() => {
        sessionStorage.clear();
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      });
      await expect(form.product).toHaveValue('');
    });
  });

  test.describe(`the end of the draft in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('ends after thirty minutes without input', async ({ page }) => {
      await page.clock.install();
      await page.reload();
      await live(page);
      const form = reportForm(page, text);
      await form.product.fill('Left alone');
      await page.clock.fastForward('29:00');
      await expect(form.product).toHaveValue('Left alone');
      await page.clock.fastForward('02:00');
      await expect(form.product).toHaveValue('');
      expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Left alone');

      // Also a restored draft, and one on a phone that slept, where no timer ran.
      for (const wake of [
        () => page.clock.fastForward('31:00'),
        async () => {
          await page.clock.setFixedTime((await page.evaluate(() => Date.now())) + 31 * 60_000);
          await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
        },
      ]) {
        await form.product.fill('Left again');
        await page.reload();
        await live(page);
        await expect(form.product).toHaveValue('Left again');
        await wake();
        await expect(form.product).toHaveValue('');
      }
    });

    test('ends on another page too', async ({ page }) => {
      await page.clock.install();
      await page.reload();
      await live(page);
      for (const leave of [
        () => page.getByRole('link', { name: words.layout.nav.about }).first().click(),
        () => page.goto(to('/about/')),
      ]) {
        await reportForm(page, text).product.fill('Left alone');
        await leave();
        await expect(page).toHaveURL(to('/about/'));
        // The address changes before the page is there, and the clock below would end the time for its parts.
        await expect(page.getByRole('heading', { level: 1, name: words.about.heading })).toBeVisible();
        const stored = () => page.evaluate(() => JSON.stringify(sessionStorage));
        await page.clock.fastForward('29:00');
        expect(await stored()).toContain('Left alone');
        await page.clock.fastForward('02:00');
        expect(await stored()).not.toContain('Left alone');
        await page.goto(to('/report/'));
        await live(page);
      }
    });
  });
}

for (const { language, words, to } of spokenIn('so')) {
  const text = words.report;

  test.describe(`the draft before hydration and at a quick exit in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test.describe('before hydration', () => {
      test('does not replace a typed number', async ({ page }) => {
        const form = reportForm(page, text);
        await form.country.selectOption('254');
        await form.phone.fill('712345678');
        await form.product.fill('Draft cream');
        const release = await hold(page, '**/assets/**');
        await page.reload();
        await expect(form.country).toHaveValue('254');
        await form.phone.fill('612345678');
        release();
        await live(page);
        await expect(form.product).toHaveValue('Draft cream');
        await expect(form.country).toHaveValue('254');
        await expect(form.phone).toHaveValue('612 345678'); // with the spaces of the country
      });
    });

    test.describe('quick exit', () => {
      const elsewhere = `https://${language}.wikipedia.org`;
      test.use({ allowOrigin: elsewhere });

      test('deletes the draft and its history entry', async ({ page }) => {
        await page.route(`${elsewhere}/**`, (route) => route.fulfill({ body: 'elsewhere' }));
        const form = reportForm(page, text);
        await form.product.fill('Secret');
        await page.getByRole('link', { name: words.layout.exit }).click();
        await expect(page).toHaveURL(new RegExp(`^${elsewhere}`));
        await page.goto(to('/report/'));
        await live(page);
        await expect(form.product).toHaveValue('');
      });
    });
  });
}
