import { expect, hold, test } from './fixtures';
import { spokenIn } from './languages';
import { openForm, reportForm, toastOf } from './report-form';
import { reportsNamed, uniqueName } from './stack';

for (const { language, words, to } of spokenIn('so')) {
  const text = words.report;

  test.describe(`errors and waiting in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('a message leaves with the error, the toast with the next input', async ({ page }) => {
      const form = reportForm(page, text);
      await form.submit.click();
      const toast = toastOf(page, words.layout.notifications)(text.toasts.invalid);
      await expect(toast).toBeVisible();
      const message = page.locator('#product_name-error');
      await expect(message).toHaveText(text.errors.product_name);
      await form.product.fill('C');
      await expect(message).toBeHidden();
      await expect(toast).toBeHidden();
      await expect(form.product).not.toHaveAttribute('aria-invalid');
      await expect(form.product).toBeFocused();
      await expect(form.summary.getByRole('link')).toHaveCount(3);
      await form.product.fill('');
      await expect(message).toBeHidden(); // until the next attempt
      await form.chooseRegion('Bari (Bari)');
      await expect(page.getByText(text.errors.location)).toHaveCount(0);
      await form.phone.fill('612345678');
      await form.problem.fill('It burned.');
      await expect(form.summary).toBeHidden();
    });

    test('the open list of regions is above the toast', async ({ page }) => {
      await page.setViewportSize({ width: 360, height: 640 });
      const form = reportForm(page, text);
      await form.submit.click();
      await expect(toastOf(page, words.layout.notifications)(text.toasts.invalid)).toBeVisible();
      await form.region.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      await form.region.click();
      const options = await page.getByRole('option').all();
      for (const option of options.slice(0, 4)) {
        const onTop = () =>
          option.evaluate((element) => {
            const { left, width, top, height } = element.getBoundingClientRect();
            return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
          });
        await expect.poll(onTop).toBe(true); // the list is placed after it opens
      }
    });
  });

  test.describe(`waiting for a report in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('a hanging report says so, can be cancelled and sent again', async ({ page }) => {
      const form = reportForm(page, text);
      const product = uniqueName('Waiting cream');
      await form.fillRequired(product);
      await page.clock.install();
      const keys: (string | undefined)[] = [];
      const release = await hold(page, '**/functions/v1/submit-report', (route) => {
        keys.push(route.request().headers()['idempotency-key']);
        return route.continue().catch(() => {});
      });
      const requested = page.waitForRequest('**/functions/v1/submit-report');
      await form.submit.click();
      await requested;
      await expect(page.getByText(text.stillTrying)).toBeHidden();
      await page.clock.fastForward(16_000);
      await expect(page.getByText(text.stillTrying)).toBeVisible();
      await page.getByRole('button', { name: text.cancel, exact: true }).click();
      await expect(page.getByText(text.stopped)).toBeVisible();
      await expect(form.product).toHaveValue(product);
      await expect(form.problem).toHaveValue('It made the skin burn.');
      await expect(form.submit).toBeEnabled();
      await page.clock.resume();
      release();
      await form.submit.click();
      await expect(toastOf(page, words.layout.notifications)(words.receipt.toasts.success)).toBeVisible();
      await expect(page.getByText(text.stopped)).toBeHidden();
      expect(new Set(keys).size).toBe(1);
      expect(await reportsNamed(product)).toHaveLength(1);
    });

    test('the toast of success covers neither the reference nor its buttons', async ({ page }) => {
      await page.setViewportSize({ width: 360, height: 800 });
      await page.emulateMedia({ reducedMotion: 'reduce' });
      const form = reportForm(page, text);
      await form.fillRequired(uniqueName('Cream'));
      await form.submit.click();
      const toast = toastOf(page, words.layout.notifications)(words.receipt.toasts.success);
      await expect(toast).toBeVisible();
      const reference = page.getByText(/^DW-[0-9A-Z]{4}-[0-9A-Z]{4}$/);
      const lastButton = page.locator('[data-receipt]').getByRole('link'); // the reference is above it
      await expect(reference).toBeInViewport();
      expect(await reference.evaluate((element) => element.getClientRects().length)).toBe(1);
      await expect(async () => {
        const [above, below] = [await lastButton.boundingBox(), await toast.boundingBox()];
        expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
      }).toPass();
    });
  });
}
