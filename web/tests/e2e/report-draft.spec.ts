import { expect, hold, live, test } from './fixtures';
import { inBothLanguages } from './languages';
import { reportForm } from './report-form';

for (const { language, words, to } of inBothLanguages) {
  const text = words.report;

  test.describe(`the report's draft in ${language}`, () => {
    test.beforeEach(async ({ page }) => {
      await page.goto(to('/report/'));
      await live(page);
    });

    test('keeps a draft in this tab through a change of language, until it is cleared', async ({ page }) => {
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

    test.describe('when what shows the chosen place comes late', () => {
      test('leaves the focus where the reader has it', async ({ page }) => {
        const form = reportForm(page, text);
        await form.chooseRegion('Bari (Bari)');
        const come = await hold(page, '**/assets/place-select-*');
        await page.reload();
        await live(page);
        await form.region.focus();
        await expect(form.region).toHaveText('Bari');
        come();
        await expect(form.region).toHaveText('Bari (Bari)');
        await expect(form.region).toBeFocused();
      });
    });

    test('forgets the draft after thirty idle minutes', async ({ page }) => {
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

      // A draft that came back with the page ends as well, and so does one on a phone that slept: no timer ran there.
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

    test('forgets the draft of a reader who went on to another page', async ({ page }) => {
      await page.clock.install();
      await page.reload();
      await live(page);
      for (const goOn of [
        () => page.getByRole('link', { name: words.layout.nav.about }).first().click(),
        () => page.goto(to('/about/')),
      ]) {
        await reportForm(page, text).product.fill('Left alone');
        await goOn();
        await expect(page).toHaveURL(to('/about/'));
        const stored = () => page.evaluate(() => JSON.stringify(sessionStorage));
        await page.clock.fastForward('29:00');
        expect(await stored()).toContain('Left alone');
        await page.clock.fastForward('02:00');
        expect(await stored()).not.toContain('Left alone');
        await page.goto(to('/report/'));
        await live(page);
      }
    });

    test('an older visit forgets what was cleared after it', async ({ page }) => {
      const form = reportForm(page, text);
      await form.product.fill('Secret');
      await page.evaluate(() => {
        sessionStorage.clear();
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      });
      await expect(form.product).toHaveValue('');
    });

    test.describe('before the page is live', () => {
      // What the worker keeps would come at once.
      test('a number that is typed anew keeps its calling code', async ({ page }) => {
        const form = reportForm(page, text);
        await form.country.selectOption('254');
        await form.phone.fill('712345678');
        await form.product.fill('Draft cream');
        const arrive = await hold(page, '**/assets/**');
        await page.reload();
        await form.phone.fill('612345678');
        arrive();
        await live(page);
        await expect(form.product).toHaveValue('Draft cream');
        await expect(form.country).toHaveValue('252');
        await expect(form.phone).toHaveValue('612345678');
      });
    });

    test.describe('quick exit', () => {
      const elsewhere = `https://${language}.wikipedia.org`;
      test.use({ allowOrigin: elsewhere });

      test('clears the draft and leaves no way back', async ({ page }) => {
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
