import type { Page } from '@playwright/test';
import { expect, hold, live, test } from './fixtures';
import { inBothLanguages, spokenIn } from './languages';
import { drawn, jpeg, withPlace } from './photos';
import { openForm, reportForm, toastOf } from './report-form';
import { mailsAbout, reportBy, reportsNamed, storedPhoto, uniqueName } from './stack';

const referenceOn = (page: Page) => page.getByText(/^DW-[0-9A-Z]{4}-[0-9A-Z]{4}$/);

for (const { language, words, to } of inBothLanguages) {
  const text = words.report;

  test.describe(`a report in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('is stored with its photo, gets a reference and notifies the administrators', async ({ page }) => {
      test.slow();
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      const product = uniqueName('Cream');
      const picture = withPlace(await jpeg(page, 2400, 1600));
      expect(picture.length).toBeGreaterThan(2_000_000);

      await form.showOptional();
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
      await expect(toast(words.receipt.toasts.success)).toBeVisible();
      const reference = (await referenceOn(page).textContent()) ?? '';
      await expect(page.getByText(words.receipt.keep)).toBeVisible();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: words.receipt.copy }).click();
      await expect(page.getByRole('button', { name: words.receipt.copied })).toBeVisible();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference);
      await expect(
        page.getByRole('link', { name: `${words.receipt.share} (${words.layout.opensInNewTab})` }),
      ).toHaveAttribute('href', new RegExp(`wa\\.me/\\?text=.*${reference}`));
      await expect(page.getByText(words.receipt.shareTrace)).toBeVisible();
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

      await expect.poll(async () => (await mailsAbout(reference)).length).toBe(1);
      const [mail] = await mailsAbout(reference);
      expect(JSON.stringify(mail)).not.toMatch(/burn|Caasha|234 5678/);
    });
  });
}

for (const { language, words, to } of spokenIn('so')) {
  const text = words.report;

  test.describe(`sending a report in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test.describe('with a taken photo name', () => {
      test.use({ allowConsole: /status of 400/ });

      test('stores the photo under another name and shows the progress', async ({ page }) => {
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
        const bar = page.getByRole('progressbar', { name: text.uploadingPhoto });
        await expect(bar).toHaveCSS('border-style', 'none'); // otherwise browsers ignore its accent-color
        release();
        await expect(toastOf(page, words.layout.notifications)(words.receipt.toasts.success)).toBeVisible();
        expect(uploads).toBe(2);
        expect(sent).toEqual(['report-photos/', 'report-photos/', 'submit-report']);
        const [stored] = await reportsNamed(product);
        expect((await storedPhoto(stored.photo_url)).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
      });
    });

    test('stores a date in Arabic-Indic digits', async ({ page }) => {
      const form = reportForm(page, text);
      const product = uniqueName('Dated cream');
      await form.fillRequired(product);
      await form.showOptional();
      await form.expiry.fill('٠٨/٢٠٢٦');
      await form.expiry.press('Enter'); // sends without leaving the field
      await expect(toastOf(page, words.layout.notifications)(words.receipt.toasts.success)).toBeVisible();
      // The back/forward cache keeps the page as it was when it was left.
      await expect(referenceOn(page)).toBeVisible();
      const left = () => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
      await page.evaluate(left);
      await expect(referenceOn(page)).toHaveCount(0);
      const [stored] = await reportsNamed(product);
      expect(stored.expiry_date).toBe('2026-08-31');
    });

    test('sends nine fields, shows that it is busy and clears the form', async ({ page }) => {
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
        button.form?.requestSubmit(button); // a second click, before the button is disabled
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

test('photos keep their format', async ({ page }) => {
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
