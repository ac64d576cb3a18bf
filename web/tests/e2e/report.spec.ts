import { placeLabel, type Region, regions } from '@/content/regions';
import { expect, live, test } from './fixtures';
import { inBothLanguages, spokenIn } from './languages';
import { openForm, reportForm, toastOf } from './report-form';

for (const { language, words, to } of inBothLanguages) {
  const text = words.report;

  test.describe(`the report form in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('has its fields in order and marks the required ones', async ({ page }) => {
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.title);
      const labels = page.locator('form label.font-semibold:not([role=button]):not(.border-dashed):visible');
      const optional = (label: string) => `${label} (${words.layout.optional})`;
      const required = [
        `${text.phone} *`,
        `${text.productName} *`,
        `${text.region} (${text.regionOther}) *`,
        `${text.problem} *`,
      ];
      await expect(labels).toHaveText(required);
      const form = reportForm(page, text);
      await form.showOptional();
      const others = [text.photo, text.name, text.whereBought, text.batchNumber, text.expiryDate];
      await expect(labels).toHaveText([...required, ...others.map(optional)]);
      await expect(form.problem).toHaveAttribute('rows', '4');
      await expect(form.region).toContainText(text.selectRegion);
      await expect(form.country).toHaveValue('252');
      await expect(form.country).toHaveAttribute('autocomplete', 'tel-country-code');
      await expect(form.country.locator('option:checked')).toHaveText(/^\+252 \p{L}+$/u);
      await expect(page.getByText(text.emergency)).toBeVisible();
      for (const number of ['911', '999']) {
        await expect(page.getByRole('main').getByRole('link', { name: number })).toHaveAttribute(
          'href',
          `tel:${number}`,
        );
      }
      const cards = page.getByRole('complementary').getByRole('heading');
      await expect(cards).toHaveText([text.whatsapp.title, text.evidence.title, text.confidential.title]);
    });

    test('has controls and links of at least 44 px on a phone', async ({ page }) => {
      await page.setViewportSize({ width: 360, height: 740 });
      await reportForm(page, text).showOptional();
      const small = await page.evaluate(() =>
        [
          ...document.querySelectorAll<HTMLElement>(
            'a, button, select, input, textarea, summary, form label[for=photo]',
          ),
        ]
          .filter((each) => each.checkVisibility() && each.offsetWidth > 1)
          .filter((each) => !each.classList.contains('sr-only') && each.tabIndex >= 0)
          .map((each) => ({ name: each.textContent || each.id, ...each.getBoundingClientRect().toJSON() }))
          .filter(({ width, height }) => Math.min(width, height) < 43.5)
          .map(({ name, width, height }) => `${name}: ${width} × ${height}`),
      );
      expect(small).toEqual([]);
    });

    test.describe('WhatsApp card', () => {
      test.use({ allowOrigin: 'https://wa.me' });

      test('opens a chat in a new tab', async ({ page, context }) => {
        await context.route('https://wa.me/**', (route) => route.fulfill({ body: 'a chat' }));
        const opened = page.waitForEvent('popup');
        await page.getByRole('link', { name: text.whatsapp.button }).click();
        const chat = new URL((await opened).url());
        expect(chat.pathname).toMatch(/^\/\d+$/);
        expect(chat.searchParams.get('text')).toBe(text.whatsapp.message);
        await expect(page).toHaveURL(new RegExp(`${to('/report/')}$`));
      });
    });
  });

  test.describe(`errors of the report form in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('are shown at the fields, in a summary and in a toast', async ({ page }) => {
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      await form.submit.click();

      await expect(toast(text.toasts.invalid)).toHaveAttribute('data-type', 'error');
      await expect(form.summary).toBeFocused();
      const { phone, product_name, location, issue_description } = text.errors;
      await expect(form.summary.getByRole('link')).toHaveText([
        phone,
        product_name,
        location,
        issue_description,
      ]);
      for (const [control, message] of [
        [form.phone, phone],
        [form.product, product_name],
        [form.region, location],
        [form.problem, issue_description],
      ] as const) {
        await expect(control).toHaveAttribute('aria-invalid', 'true');
        await expect(control).toHaveAccessibleDescription(new RegExp(message));
      }
      await form.summary.getByRole('link', { name: location }).click();
      await expect(form.region).toBeFocused();

      await form.problem.fill('a'.repeat(5001)); // a pasted text is not cut in silence
      await expect(form.problem).toHaveValue(/^a{5001}$/);
      const tooLong = text.errors.tooLong.replace('{count}', '5000');
      await expect(form.problem).toHaveAccessibleDescription(new RegExp(tooLong));
      await expect(form.summary.getByRole('link').last()).toHaveText(tooLong);
    });

    test('move the focus to the summary after sending by keyboard', async ({ page }) => {
      await page.setViewportSize({ width: 1280, height: 900 }); // the summary's place is in view as the page opens
      const form = reportForm(page, text);
      await form.submit.focus();
      await page.keyboard.press('Enter');
      await expect(form.summary).toBeFocused();
      await page.waitForTimeout(1000); // as long as a scroll that was under way may take
      await expect(form.summary).toBeInViewport();
    });

    test.describe('without the code of the toasts', () => {
      test.use({ allowConsole: /ERR_FAILED/ });

      test('are shown in an alert', async ({ page }) => {
        await page.route('**/assets/sonner-*.js', (route) => route.abort());
        const message = page.waitForEvent('dialog').then(async (dialog) => {
          await dialog.accept();
          return dialog.message();
        });
        await reportForm(page, text).submit.click();
        expect(await message).toBe(`${text.toasts.invalid.title}\n\n${text.toasts.invalid.description}`);
      });
    });
  });

  test.describe(`the photo and the location in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('accepts only images of at most 5 MB', async ({ page }) => {
      const form = reportForm(page, text);
      const toast = toastOf(page, words.layout.notifications);
      for (const [name, mimeType, content] of [
        ['a.pdf', 'application/pdf', '%PDF'],
        ['a.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
        ['a.tiff', 'image/tiff', 'II*'],
        ['empty.jpg', 'image/jpeg', ''],
      ] as const) {
        await form.photo.setInputFiles({ name, mimeType, buffer: Buffer.from(content) });
        await expect(toast(text.toasts.fileType)).toBeVisible();
        await expect(page.getByText(name)).toBeHidden();
        await expect(form.photo).toHaveValue('');
        await form.product.fill(name); // the toast goes at the next input
        await expect(toast(text.toasts.fileType)).toBeHidden();
      }
      const largest = 5 * 1024 * 1024;
      const photo = (name: string, size: number) => ({
        name,
        mimeType: 'image/png',
        buffer: Buffer.alloc(size),
      });
      await form.photo.setInputFiles(photo('big.png', largest + 1));
      await expect(toast(text.toasts.fileSize)).toBeVisible();
      await expect(page.getByText('big.png')).toBeHidden();
      await expect(form.photo).toHaveValue('');
      await form.photo.setInputFiles(photo('largest.png', largest));
      await expect(page.getByText('largest.png')).toBeVisible();
      await expect(page.getByText('5.00 MB')).toBeVisible();
      await page.getByRole('button', { name: text.removePhoto }).click();
      await expect(page.getByText('largest.png')).toBeHidden();
      await expect(form.photo).toBeFocused();
      await expect(form.photo).toHaveValue('');
    });

    test('lists regions and districts with their Somali names, at most 15rem high', async ({ page }) => {
      const form = reportForm(page, text);
      const [banaadir, awdal] = regions as [Region, Region];
      await expect(form.district).toBeHidden();
      await form.region.click();
      const options = page.getByRole('option');
      await expect(options).toHaveText(regions.map(placeLabel));
      const list = await page.getByRole('listbox').boundingBox();
      expect(list?.height).toBeLessThanOrEqual(240);
      await options.first().click();
      await expect(page.locator('input[name=location]')).toHaveValue('Banaadir');
      await expect(form.district).toContainText(text.selectDistrict);
      await expect(page.locator('label[for=district]')).toHaveText(
        `${text.district} (${text.districtOther}) (${words.layout.optional})`,
      );
      await form.district.click();
      await expect(options).toHaveText(banaadir.districts.map(placeLabel));
      await page.getByRole('option', { name: 'Hodan (Hodan)' }).click();
      await expect(page.locator('input[name=location]')).toHaveValue('Banaadir, Hodan');
      await form.chooseRegion(placeLabel(awdal));
      await expect(page.locator('input[name=location]')).toHaveValue('Awdal');
      await expect(form.district).toContainText(text.selectDistrict);
      await form.district.click();
      await expect(options).toHaveText(awdal.districts.map(placeLabel));
    });
  });

  test.describe(`the date in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('picks the expiry date from a calendar in the language of the page', async ({ page }) => {
      const form = reportForm(page, text);
      await form.showOptional();
      await form.expiry.fill('2026-08-15');
      await form.calendar.click();
      const dialog = page.getByRole('dialog');
      const month = language === 'so' ? 'Agosto' : 'August';
      await expect(dialog.locator('[lang]')).toHaveAttribute('lang', language);
      await expect(dialog.getByRole('combobox', { name: words.calendar.month })).toContainText(month);
      await dialog.getByRole('button', { name: new RegExp(`20 ${month} 2026`) }).click();
      await expect(dialog).toBeHidden();
      await expect(form.expiry).toHaveValue('2026-08-20');
      await expect(form.calendar).toBeFocused();

      await page.keyboard.press('Enter');
      await expect(dialog).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(dialog).toBeHidden();
      await expect(form.calendar).toBeFocused();

      await form.calendar.click();
      await expect(dialog).toBeVisible();
      await form.calendar.click();
      await expect(dialog).toBeHidden();
      await form.calendar.click();
      await form.batch.click();
      await expect(dialog).toBeHidden();
      await expect(form.batch).toBeFocused();
    });
  });
}

for (const { language, words, to } of spokenIn('en')) {
  const text = words.report;

  test.describe(`the phone number in ${language}`, () => {
    test.beforeEach(({ page }) => openForm(page, to));

    test('reads a pasted international number and formats numbers by country', async ({ page }) => {
      const form = reportForm(page, text);
      await form.phone.fill('+1 416 555 0123');
      await expect(form.country).toHaveValue('1');
      await expect(form.phone).toHaveValue('(416) 555-0123');
      await expect(page.locator('img[src="/flags/ca.svg"]')).toBeVisible();
      await form.country.selectOption('254');
      await form.phone.fill('0712345678');
      await expect(form.phone).toHaveValue('712 345678');
      await form.phone.clear();
      await form.phone.pressSequentially('0712345678');
      await expect(form.phone).toHaveValue('712 345678');
      await form.phone.clear();
      await form.phone.pressSequentially('٠٧١٢٣٤٥٦٧٨'); // from an Arabic keyboard
      await expect(form.phone).toHaveValue('712 345678');
    });

    test('lists all countries with their masks, and a pasted number chooses one', async ({ page }) => {
      const form = reportForm(page, text);
      await expect(form.country.locator('option')).toHaveCount(24);
      await form.phone.fill('+32 470 12 34 56');
      await expect(form.country).toHaveValue('32');
      await expect(form.phone).toHaveValue('470 12 34 56');
      await expect(form.country.locator('option:checked')).toHaveText(
        language === 'so' ? '+32 Biljam' : '+32 Belgium',
      );
      expect(await form.country.locator('option').count()).toBeGreaterThan(215);
      await form.phone.fill('0033612345678');
      await expect(form.country).toHaveValue('33');
      await form.country.selectOption('41');
      await form.phone.fill('0791234567');
      await expect(form.phone).toHaveValue('79 123 45 67');
      await page.reload();
      await live(page);
      await form.phone.focus();
      await expect(form.country).toHaveValue('41');
    });

    test('reads a typed calling code, also an unknown one', async ({ page }) => {
      const form = reportForm(page, text);
      for (const typed of ['+252612345678', '00252612345678']) {
        await form.country.selectOption('254');
        await form.phone.clear();
        await form.phone.pressSequentially(typed);
        await expect(form.country).toHaveValue('252');
        await expect(form.phone).toHaveValue('61 234 5678');
      }
      await form.phone.clear();
      await form.phone.pressSequentially('+999 612');
      await form.phone.blur();
      await expect(form.phone).toHaveValue('+999 612');
    });
  });
}
