import type { Page } from '@playwright/test';
import { expect, hold, live, onSlowLine, test } from './fixtures';
import { inBothLanguages } from './languages';
import { drawn, jpeg, withPlace } from './photos';
import { reportForm, toastOf } from './report-form';
import { mailsAbout, reportBy, reportsNamed, storedPhoto, uniqueName } from './stack';

for (const { language, words, to } of inBothLanguages) {
  const text = words.report;

  test.describe(`a report in ${language}`, () => {
    const aboutLink = (page: Page) => page.getByRole('link', { name: words.layout.nav.about }).first();

    /** The address changes first, and who goes back before the page does has never left the form. */
    const aboutIsShown = (page: Page) =>
      expect(page.getByRole('heading', { level: 1, name: words.about.heading })).toBeVisible();

    const referenceOn = (page: Page) => page.getByText(/^DW-[0-9A-Z]{4}-[0-9A-Z]{4}$/);

    /** Sends a report whose answer waits, and goes to another page meanwhile. */
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

    test.beforeEach(async ({ page }) => {
      await page.goto(to('/report/'));
      await live(page);
    });

    test('is stored with its photo, shown its reference and told to the administrator', async ({ page }) => {
      test.slow();
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      const product = uniqueName('Cream');
      const picture = withPlace(await jpeg(page, 2400, 1600));
      expect(picture.length).toBeGreaterThan(2_000_000);

      await form.name.fill('Caasha');
      await form.phone.pressSequentially('612345678');
      await expect(form.phone).toHaveValue('61 234 5678');
      await form.product.fill(product);
      await form.bought.fill('Bakaaraha');
      await form.batch.fill('B-77');
      await form.expiry.fill('08/2026');
      await form.chooseRegion('Banaadir (Banaadir)');
      await form.district.click();
      await page.getByRole('option', { name: 'Abdiaziz (Cabdicasiis)' }).click();
      await form.problem.fill('It made the skin burn.');
      await form.photo.setInputFiles({ name: 'IMG_1.JPG', mimeType: 'image/jpeg', buffer: picture });
      await expect(page.getByText('IMG_1.JPG')).toBeVisible();
      await expect(page.getByText(`${(picture.length / 1048576).toFixed(2)} MB`)).toBeVisible();

      await form.submit.click();
      await expect(toast(text.toasts.success)).toBeVisible({ timeout: 20_000 });
      const reference = (await referenceOn(page).textContent()) ?? '';
      await expect(page.getByText(text.success.keep)).toBeVisible();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: text.success.copy }).click();
      await expect(page.getByRole('button', { name: text.success.copied })).toBeVisible();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference);
      await expect(
        page.getByRole('link', { name: `${text.success.share} (${words.layout.opensInNewTab})` }),
      ).toHaveAttribute('href', new RegExp(`wa\\.me/\\?text=.*${reference}`));
      await expect(page.getByText(text.success.shareTrace)).toBeVisible();
      await expect(form.product).toHaveValue('');
      await expect(page.getByText('IMG_1.JPG')).toBeHidden();

      const stored = await reportBy(reference);
      expect(stored).toMatchObject({
        name: 'Caasha',
        phone: '+252 61 234 5678',
        product_name: product,
        where_bought: 'Bakaaraha',
        batch_number: 'B-77',
        expiry_date: '2026-08-31',
        location: 'Banaadir, Abdiaziz',
        issue_description: 'It made the skin burn.',
        language,
        status: 'new',
      });
      expect(stored.photo_url).toMatch(/^\d{13}\.jpg$/);
      const photo = await storedPhoto(stored.photo_url);
      expect(photo.subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
      expect(photo.length).toBeLessThan(picture.length);
      expect(photo.includes('Exif')).toBe(false);

      await expect.poll(async () => (await mailsAbout(reference)).length, { timeout: 15_000 }).toBe(1);
      const [mail] = await mailsAbout(reference);
      expect(JSON.stringify(mail)).not.toMatch(/burn|Caasha|234 5678/);
    });

    test('shows the reference to a reader who went on while the report was sent, once', async ({ page }) => {
      const { form, release } = await leaveWhileSending(page);
      release();
      await expect(toastOf(page, words.layout.notifications)(text.toasts.success)).toBeVisible();
      await page.goBack();
      await expect(referenceOn(page)).toBeVisible();
      await aboutLink(page).click();
      await aboutIsShown(page);
      await page.goBack();
      await expect(form.product).toHaveValue('');
      await expect(referenceOn(page)).toBeHidden();
    });

    test('shows the reference to a reader who is back before the report was sent', async ({ page }) => {
      const { form, release } = await leaveWhileSending(page);
      await page.goBack();
      await expect(form.submitting).toBeDisabled();
      release();
      await expect(referenceOn(page)).toBeVisible();
      await expect(form.product).toHaveValue('');
      await expect(form.submit).toBeEnabled();
    });

    test('is sent once by a reader who is back while its photo is still on its way', async ({ page }) => {
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

    test('leaves alone what its reader has begun to write meanwhile', async ({ page }) => {
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

    test.describe('when parts of the form do not arrive', () => {
      test.use({ allowConsole: /ERR_FAILED/ });

      test('goes with its place and its photo as the plain form does', async ({ page }) => {
        await onSlowLine(page); // the page that thanks stays as it is
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
        await expect(page).toHaveURL(to('/report/thank-you/'));
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
        await expect(page).toHaveURL(to('/report/thank-you/'));
        await page.waitForLoadState('load');
        expect(await drafts()).toContain('Another cream');
      });

      test('says so to a reader who has gone on', async ({ page }) => {
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

      test('asks for the whole page where the list of places is not in it', async ({ page }) => {
        await page.goto(to('/about/'));
        await live(page);
        await page.getByRole('link', { name: words.layout.nav.report }).first().click();
        const form = reportForm(page, text);
        await form.product.fill('Kept cream');
        let missing = true;
        await page.route('**/assets/place-select-*', (route) => (missing ? route.abort() : route.continue()));
        // Here before the new page's parts are: what this page lacks, that one has.
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

    test.describe('when the backend fails', () => {
      test.use({ allowConsole: /status of (500|429)|ERR_CONNECTION_RESET/ });

      test('goes on without the photo when that cannot be stored', async ({ page }) => {
        const form = reportForm(page, text);
        const toast = toastOf(page, words.layout.notifications);
        const product = uniqueName('Tablets');
        await page.route('**/storage/v1/object/report-photos/**', (route) =>
          route.fulfill({ status: 500, json: { statusCode: '500', error: 'Internal', message: 'no room' } }),
        );
        await form.fillRequired(product);
        const buffer = await jpeg(page, 200, 200);
        await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
        await form.submit.click();
        await expect(toast(text.toasts.photoFailed)).toBeVisible();
        await expect(toast(text.toasts.success)).toBeVisible();
        const [stored] = await reportsNamed(product);
        expect(stored.photo_url).toBeNull();
      });

      test('keeps the form when sending fails, and a retry does not double the report', async ({ page }) => {
        const form = reportForm(page, text);
        const toast = toastOf(page, words.layout.notifications);
        const product = uniqueName('Syrup');
        const keys: string[] = [];
        await page.route('**/functions/v1/submit-report', async (route) => {
          keys.push(route.request().headers()['idempotency-key'] ?? '');
          // The first answer is lost on its way, the second is a refusal with the backend's own words.
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
        await expect(toast(text.toasts.success)).toBeVisible();

        expect(new Set(keys).size).toBe(1);
        expect(await reportsNamed(product)).toHaveLength(1);
      });

      test('a report whose answer was lost is not doubled after a reload', async ({ page }) => {
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
        await form.expiry.fill('08/2026'); // which becomes a day when the field is left
        await form.submit.click();
        await expect(toast(text.toasts.failed)).toBeVisible();
        const [stored] = await reportsNamed(product);
        await page.reload();
        await live(page);
        await expect(form.product).toHaveValue(product);
        await form.submit.click();
        await expect(toast(text.toasts.success)).toBeVisible();
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
        test(`says in the page’s language what ${who} says in English`, async ({ page }) => {
          const form = reportForm(page, text);
          await page.route('**/functions/v1/submit-report', (route) => route.fulfill(answer));
          await form.fillRequired(uniqueName('Gel'));
          await form.submit.click();
          await expect(toastOf(page, words.layout.notifications)(text.toasts.failed)).toBeVisible();
        });
      }
    });

    test.describe('when a name is taken', () => {
      test.use({ allowConsole: /status of 400/ });

      test('stores the photo under the next one, and shows how far it is', async ({ page }) => {
        const form = reportForm(page, text);
        const product = uniqueName('Capsules');
        let uploads = 0;
        const sent: string[] = [];
        page.on('request', (request) => {
          const call = /(report-photos\/|submit-report$)/.exec(request.url())?.[0];
          if (call && request.method() === 'POST') sent.push(call);
        });
        const release = await hold(page, '**/storage/v1/object/report-photos/**', (route) => {
          uploads++;
          if (uploads > 1) return route.continue();
          const json = { statusCode: '409', error: 'Duplicate', message: 'The resource already exists' };
          return route.fulfill({ status: 400, json });
        });
        await form.fillRequired(product);
        const buffer = await jpeg(page, 200, 200);
        await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
        await form.submit.click();
        await expect(page.getByText(text.uploadingPhoto)).toBeVisible();
        await expect(page.getByRole('progressbar', { name: text.uploadingPhoto })).toBeVisible();
        release();
        await expect(toastOf(page, words.layout.notifications)(text.toasts.success)).toBeVisible();
        expect(uploads).toBe(2);
        expect(sent).toEqual(['report-photos/', 'report-photos/', 'submit-report']);
        const [stored] = await reportsNamed(product);
        expect((await storedPhoto(stored.photo_url)).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
      });
    });

    test('sends the nine fields, shows that it is busy, and is cleared of values and errors', async ({
      page,
    }) => {
      const form = reportForm(page, text);
      const bodies: unknown[] = [];
      const release = await hold(page, '**/functions/v1/submit-report', (route) => {
        bodies.push(route.request().postDataJSON());
        return route.continue();
      });
      await form.submit.click();
      await expect(form.summary).toBeVisible();
      const product = uniqueName('Drops');
      await form.fillRequired(product);
      await form.submit.evaluate((button: HTMLButtonElement) => {
        button.click();
        button.form?.requestSubmit(button); // a second press, before the button can be seen to be busy
      });
      await expect(form.submitting).toBeDisabled();
      release();
      await expect(form.submit).toBeEnabled();
      expect(bodies).toEqual([
        {
          name: null,
          phone: '+252 61 234 5678',
          product_name: product,
          batch_number: null,
          expiry_date: null,
          where_bought: null,
          issue_description: 'It made the skin burn.',
          location: 'Banaadir',
          photo_url: null,
        },
      ]);
      await expect(form.summary).toBeHidden();
      await expect(form.product).not.toHaveAttribute('aria-invalid');
      for (const control of [form.phone, form.product, form.problem]) await expect(control).toHaveValue('');
      await expect(form.region).toContainText(text.selectRegion);
      await expect(form.district).toBeHidden();
    });
  });
}

test('photos keep their format, and those that a browser cannot write are sent untouched', async ({
  page,
}) => {
  test.slow();
  const [{ words }] = inBothLanguages as [(typeof inBothLanguages)[0]];
  await page.addInitScript(() => {
    const send = XMLHttpRequest.prototype.send;
    XMLHttpRequest.prototype.send = function (body?: XMLHttpRequestBodyInit | null) {
      const parts = body instanceof FormData ? [...body.values()] : [];
      Object.assign(globalThis, { sent: parts.find((part) => part instanceof File) });
      send.call(this, body);
    };
  });
  await page.route('**/storage/v1/object/report-photos/**', (route) => route.fulfill({ json: { Key: 'a' } }));
  await page.goto('/report/');
  await live(page);
  const form = reportForm(page, words.report);
  const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
  for (const [name, mimeType, buffer, head] of [
    ['a.PNG', 'image/png', await drawn(page, 'image/png'), '\x89PNG'],
    ['b.webp', 'image/webp', await drawn(page, 'image/webp'), 'RIFF'],
    ['c.gif', 'image/gif', gif, gif.toString('latin1')],
  ] as const) {
    await form.fillRequired(uniqueName(name));
    await form.photo.setInputFiles({ name, mimeType, buffer });
    const upload = page.waitForRequest('**/storage/v1/object/report-photos/**');
    await form.submit.click();
    expect((await upload).url()).toMatch(new RegExp(`/\\d{13}\\${name.slice(1).toLowerCase()}$`));
    const sent = await page.evaluate(async () => {
      const { sent } = globalThis as unknown as { sent: File };
      const bytes = new Uint8Array(await sent.arrayBuffer());
      return { type: sent.type, content: String.fromCharCode(...bytes) };
    });
    expect(sent.type).toBe(mimeType);
    expect(sent.content.startsWith(head)).toBe(true);
    await expect(form.product).toHaveValue('');
  }
});
