import type { Page } from '@playwright/test';
import { expect, hold, live, onSlowConnection, test } from './fixtures';
import { spokenIn } from './languages';
import { drawn, jpeg } from './photos';
import { openForm, reportForm, toastOf } from './report-form';
import { reportsNamed, storedPhoto, uniqueName } from './stack';

for (const { language, words, to } of spokenIn('en')) {
  const text = words.report;
  const aboutLink = (page: Page) => page.getByRole('link', { name: words.layout.nav.about }).first();

  /** The address changes before the page does. */
  const aboutIsShown = (page: Page) =>
    expect(page.getByRole('heading', { level: 1, name: words.about.heading })).toBeVisible();

  test.describe(`missing code of the report form in ${language}`, () => {
    test.use({ allowConsole: /ERR_FAILED/ });
    test.beforeEach(({ page }) => openForm(page, to));

    test('posts the plain form with place and photo', async ({ page }) => {
      await onSlowConnection(page); // so that the thank-you page is not hydrated
      await page.route(/assets\/(submit-report|place-select)-/, (route) => route.abort());
      const form = reportForm(page, text);
      const product = uniqueName('Plain cream');
      await form.phone.fill('612345678');
      await form.product.fill(product);
      await form.problem.fill('It made the skin burn.');
      await form.region.click();
      const places = page.locator('select[name=location]');
      await expect(places).toBeFocused();
      await places.selectOption('Banaadir, Hodan');
      const buffer = await jpeg(page, 200, 200);
      await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
      await form.submit.click();
      await expect(page).toHaveURL(to('/report/thank-you/#sent'));
      const [stored] = await reportsNamed(product);
      expect(stored).toMatchObject({ phone: '+252 61 234 5678', location: 'Banaadir, Hodan', language });
      expect((await storedPhoto(stored.photo_url)).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
      const drafts = () => page.evaluate(() => JSON.stringify(sessionStorage));
      await expect.poll(drafts).toBe('{}');
      await expect(page.locator('html')).not.toHaveAttribute('data-live');

      await page.getByRole('link', { name: words['thank-you'].another }).click();
      await form.problem.focus();
      await live(page);
      await expect(form.product).toHaveValue('');
      await form.product.fill('Another cream');
      await page.goBack();
      await expect(page).toHaveURL(to('/report/thank-you/#sent'));
      await page.waitForLoadState('load');
      expect(await drafts()).toContain('Another cream');
    });

    test('shows a toast on another page', async ({ page }) => {
      const lose = await hold(page, '**/assets/submit-report-*', (route) => route.abort());
      const form = reportForm(page, text);
      await form.fillRequired(uniqueName('Cream'));
      await form.submit.click();
      await expect(form.submitting).toBeVisible();
      await aboutLink(page).click();
      await aboutIsShown(page);
      lose();
      await expect(toastOf(page, words.layout.notifications)(text.toasts.failed)).toBeVisible();
    });

    test('reloads the page if it has no list of places', async ({ page }) => {
      await page.goto(to('/resources/'));
      await live(page);
      await page.getByRole('link', { name: words.layout.nav.report }).first().click();
      const form = reportForm(page, text);
      await form.product.fill('Kept cream');
      let missing = true;
      await page.route('**/assets/place-select-*', (route) => (missing ? route.abort() : route.continue()));
      // Before the parts of the new page are requested: it gets what this page lacks.
      await page.route(`**${to('/report/')}`, (route) => {
        missing = false;
        return route.continue();
      });
      const loaded = page.waitForEvent('load');
      await form.region.click();
      await loaded;
      await live(page);
      await expect(form.product).toHaveValue('Kept cream');
      await form.chooseRegion('Bari (Bari)');
    });
  });

  test.describe(`failed uploads and replies in ${language}`, () => {
    test.use({ allowConsole: /status of (500|429)|ERR_CONNECTION_RESET/ });
    test.beforeEach(({ page }) => openForm(page, to));

    test('sends the report without a photo that cannot be stored', async ({ page }) => {
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      const product = uniqueName('Tablets');
      await page.route('**/storage/v1/object/report-photos/**', (route) =>
        route.fulfill({ status: 500, json: { statusCode: '500', error: 'Internal', message: 'disk full' } }),
      );
      await form.fillRequired(product);
      const buffer = await jpeg(page, 200, 200);
      await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
      await form.submit.click();
      await expect(toast(words.receipt.toasts.photoFailed)).toBeVisible();
      await expect(toast(words.receipt.toasts.success)).toBeVisible();
      await expect(page.getByText(words.receipt.withoutPhoto)).toBeVisible(); // it stays after the toast
      const [stored] = await reportsNamed(product);
      expect(stored.photo_url).toBeNull();
    });

    test('keeps the photo for a retry when the connection is away', async ({ page }) => {
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      const product = uniqueName('Powder');
      const away = /\/(storage|functions)\/v1\//;
      await page.route(away, (route) => route.abort('connectionreset'));
      await form.fillRequired(product);
      const buffer = await jpeg(page, 200, 200);
      await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
      await form.submit.click();
      await expect(toast(text.toasts.failed)).toBeVisible();
      await page.unroute(away);
      await form.submit.click();
      await expect(toast(words.receipt.toasts.success)).toBeVisible();
      const [stored] = await reportsNamed(product);
      expect(stored.photo_url).not.toBeNull();
    });

    test('keeps the form, and a retry creates no second report', async ({ page }) => {
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      const product = uniqueName('Syrup');
      const keys: string[] = [];
      await page.route('**/functions/v1/submit-report', async (route) => {
        keys.push(route.request().headers()['idempotency-key'] ?? '');
        // The first reply is lost. The second is a refusal with the backend's own message.
        if (keys.length === 1) {
          await route.fetch();
          return route.abort('connectionreset');
        }
        if (keys.length === 2) {
          const headers = { 'content-language': language };
          return route.fulfill({
            status: 429,
            headers,
            json: { code: 'too_many', message: 'Wait a little.' },
          });
        }
        return route.continue();
      });
      await form.fillRequired(product);
      const buffer = await drawn(page, 'image/png');
      await form.photo.setInputFiles({ name: 'kept.png', mimeType: 'image/png', buffer });

      await form.submit.click();
      await expect(toast(text.toasts.failed)).toBeVisible();
      await expect(form.product).toHaveValue(product);
      await expect(form.problem).toHaveValue('It made the skin burn.');
      await expect(page.locator('[name=location]')).toHaveValue('Banaadir');
      await expect(page.getByText('kept.png')).toBeVisible();
      await expect(form.submit).toBeEnabled();
      await form.submit.click();
      await expect(toast({ title: text.toasts.failed.title, description: 'Wait a little.' })).toBeVisible();
      await form.submit.click();
      await expect(toast(words.receipt.toasts.success)).toBeVisible();
      await expect(page.getByText(text.toasts.failed.title)).toHaveCount(0); // of the attempt before

      expect(new Set(keys).size).toBe(1);
      expect(await reportsNamed(product)).toHaveLength(1);
    });
  });

  test.describe(`lost replies and errors of the stack in ${language}`, () => {
    test.use({ allowConsole: /status of (500|429)|ERR_CONNECTION_RESET/ });
    test.beforeEach(({ page }) => openForm(page, to));

    test('neither a retry after a reload nor a copy of the tab creates a second report', async ({ page }) => {
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      const product = uniqueName('Lotion');
      await page.route(
        '**/functions/v1/submit-report',
        async (route) => {
          await route.fetch();
          await route.abort('connectionreset');
        },
        { times: 1 },
      );
      await form.fillRequired(product);
      await form.showOptional();
      await form.expiry.fill('08/2026'); // leaving the field changes it to a full date
      await form.submit.click();
      await expect(toast(text.toasts.failed)).toBeVisible();
      const [stored] = await reportsNamed(product);
      const copy = await page.context().newPage();
      await copy.addInitScript(
        (draft) => {
          sessionStorage['daawo.report-draft'] ??= draft;
        },
        await page.evaluate(() => sessionStorage['daawo.report-draft']),
      );
      await openForm(copy, to);
      await reportForm(copy, text).submit.click();
      await expect(copy.getByText(stored.reference)).toBeVisible();
      await copy.close();
      await page.reload();
      await live(page);
      await expect(form.product).toHaveValue(product);
      await form.submit.click();
      await expect(toast(words.receipt.toasts.success)).toBeVisible();
      await expect(page.getByText(stored.reference)).toBeVisible();
      expect(await reportsNamed(product)).toHaveLength(1);
    });

    for (const [who, answer] of [
      ['the gateway', { status: 429, json: { code: 'too_many', message: 'Too many requests' } }],
      [
        'the host of the functions',
        {
          status: 500,
          headers: { 'sb-error-code': 'WORKER_ERROR', 'content-language': language },
          json: { code: 'WORKER_ERROR', message: 'Function exited due to an error' },
        },
      ],
    ] as const) {
      test(`shows the general message for an error of ${who}`, async ({ page }) => {
        const form = reportForm(page, text);
        await page.route('**/functions/v1/submit-report', (route) => route.fulfill(answer));
        await form.fillRequired(uniqueName('Gel'));
        await form.submit.click();
        await expect(toastOf(page, words.layout.notifications)(text.toasts.failed)).toBeVisible();
      });
    }
  });
}
