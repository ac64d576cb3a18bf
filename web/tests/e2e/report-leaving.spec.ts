import type { Page } from '@playwright/test';
import { expect, hold, test } from './fixtures';
import { spokenIn } from './languages';
import { jpeg } from './photos';
import { openForm, reportForm, toastOf } from './report-form';
import { reportsNamed, uniqueName } from './stack';

for (const { language, words, to } of spokenIn('en')) {
  const text = words.report;
  const aboutLink = (page: Page) => page.getByRole('link', { name: words.layout.nav.about }).first();

  /** The address changes before the page does. Going back before that would not unmount the form. */
  const aboutIsShown = (page: Page) =>
    expect(page.getByRole('heading', { level: 1, name: words.about.heading })).toBeVisible();

  const referenceOn = (page: Page) => page.getByText(/^DW-[0-9A-Z]{4}-[0-9A-Z]{4}$/);

  /** Sends a report, holds its reply back and goes to another page. */
  const leaveWhileSending = async (page: Page) => {
    const form = reportForm(page, text);
    const release = await hold(page, '**/functions/v1/submit-report');
    await form.fillRequired(uniqueName('Cream'));
    await form.submit.click();
    await expect(form.submitting).toBeVisible();
    await aboutLink(page).click();
    await aboutIsShown(page);
    return { form, release };
  };

  test.describe(`leaving the page while a report is sent in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('shows the reference once after the return', async ({ page }) => {
      const { form, release } = await leaveWhileSending(page);
      release();
      await expect(toastOf(page, words.layout.notifications)(words.receipt.toasts.success)).toBeVisible();
      await page.goBack();
      await expect(referenceOn(page)).toBeVisible();
      await aboutLink(page).click();
      await aboutIsShown(page);
      await page.goBack();
      await expect(form.product).toHaveValue('');
      await expect(referenceOn(page)).toBeHidden();
    });

    test('shows the progress and the reference after an early return', async ({ page }) => {
      const { form, release } = await leaveWhileSending(page);
      await page.goBack();
      await expect(form.submitting).toBeDisabled();
      release();
      await expect(referenceOn(page)).toBeVisible();
      await expect(form.product).toHaveValue('');
      await expect(form.submit).toBeEnabled();
    });

    test('sends the report once after a return during the upload', async ({ page }) => {
      const form = reportForm(page, text);
      const product = uniqueName('Ointment');
      const release = await hold(page, '**/storage/v1/object/report-photos/**');
      await form.fillRequired(product);
      const buffer = await jpeg(page, 200, 200);
      await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
      await form.submit.click();
      await expect(page.getByText(text.uploadingPhoto)).toBeVisible();
      await aboutLink(page).click();
      await aboutIsShown(page);
      await page.goBack();
      await expect(form.product).toHaveValue(product);
      await expect(page.getByText(text.uploadingPhoto)).toBeVisible();
      await form.product.press('Enter');
      await expect(form.submitting).toBeDisabled();
      release();
      await expect(referenceOn(page)).toBeVisible();
      await expect(form.product).toHaveValue('');
      await expect(form.submit).toBeEnabled();
      expect(await reportsNamed(product)).toHaveLength(1);
    });

    test('keeps a new report that the reader has begun', async ({ page }) => {
      const form = reportForm(page, text);
      const first = uniqueName('First');
      const release = await hold(page, '**/functions/v1/submit-report');
      await form.fillRequired(first);
      await form.submit.click();
      await expect(form.submitting).toBeVisible();
      await form.clear.click();
      await form.product.fill('Another cream');
      release();
      await expect(referenceOn(page)).toBeVisible();
      await expect(form.submit).toBeEnabled();
      await expect(form.product).toHaveValue('Another cream');
      const stored = await page.evaluate(() => JSON.stringify(sessionStorage));
      expect(stored).toContain('Another cream');
      expect(stored).not.toContain(first);
    });
  });
}
