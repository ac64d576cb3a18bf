import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';
import { everyPage } from './pages';
import { jpeg, withPlace } from './photos';
import { reportForm } from './report-form';
import { reportsNamed, storedPhoto, uniqueName } from './stack';

test.use({ javaScriptEnabled: false, allowConsole: /status of 422/ });

for (const { language, words } of inBothLanguages) {
  test(`every page is complete without JavaScript (${language})`, async ({ page }) => {
    test.slow(); // fourteen pages and a navigation from each
    await page.setViewportSize({ width: 360, height: 640 });
    for (const { path } of everyPage.filter((each) => each.language === language)) {
      await test.step(path, async () => {
        await page.goto(path);
        await expect(page.locator('html')).toHaveAttribute('lang', language);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expect(page.getByText(words.layout.footer.disclaimer)).toBeVisible();
        const menu = page.locator('header details');
        await expect(menu.getByRole('link').first()).toBeHidden();
        await menu.locator('summary').click();
        await menu.getByRole('link', { name: words.layout.nav.contact }).click();
        await expect(page.getByRole('heading', { level: 1 })).toHaveText(words.contact.title);
      });
    }
  });
}

/** Waits for the job that removes the metadata of a posted photo. */
async function expectNoMetadata(photo: string) {
  await expect.poll(async () => (await storedPhoto(photo)).includes('Exif')).toBe(false);
}

for (const { language, words, to } of inBothLanguages) {
  const text = words.report;

  test(`the plain form is stored with its photo (${language})`, async ({ page, browser }) => {
    const drawing = await browser.newPage({ javaScriptEnabled: true });
    const buffer = withPlace(await jpeg(drawing, 320, 240));
    await drawing.close();
    const product = uniqueName('Plain cream');
    await page.goto(to('/report/'));
    await page.getByRole('textbox', { name: text.phone }).fill('612345678');
    await page.getByLabel(text.productName).fill(product);
    await page.locator('select[name=location]').selectOption('Banaadir, Hodan');
    await page.getByLabel(text.problem).fill('It burned.');
    await page.locator('input[type=file]').setInputFiles({ name: 'p.jpg', mimeType: 'image/jpeg', buffer });
    await page.getByRole('button', { name: text.submit }).click();

    await expect(page).toHaveURL(new RegExp(`${to('/report/thank-you/')}#sent$`));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(words['thank-you'].title);
    await expect(page.locator('meta[name=robots]')).toHaveAttribute('content', 'noindex');
    await page.setViewportSize({ width: 320, height: 640 });
    const reference = page.frameLocator('iframe').getByText(/^DW-[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    await expect(reference).toBeVisible();
    const lines = reference.evaluate((each) => each.getBoundingClientRect().height / 1.5 / 24);
    expect(await lines).toBeLessThan(1.1);
    const cookies = async () => (await page.context().cookies()).map(({ name }) => name);
    await expect.poll(cookies).not.toContain('daawo_reference');

    const reports = await reportsNamed(product);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({ phone: '+252 612345678', location: 'Banaadir, Hodan', language });
    await expectNoMetadata(reports[0].photo_url);
  });

  test(`the plain form comes back with messages and keeps its values (${language})`, async ({
    page,
    browser,
  }) => {
    await page.goto(to('/report/'));
    const form = reportForm(page, text);
    const submit = page.getByRole('button', { name: text.submit });
    await submit.click();
    await expect(form.phone).toBeFocused(); // the browser focuses the first required field
    await expect(page).toHaveURL(new RegExp(`${to('/report/')}$`));

    const drawing = await browser.newPage({ javaScriptEnabled: true });
    const buffer = withPlace(await jpeg(drawing, 320, 240));
    await drawing.close();
    const product = uniqueName('Half <b>filled</b>');
    await form.phone.fill(' ');
    await form.product.fill(product);
    await page.locator('select[name=location]').selectOption('Bari');
    await form.problem.fill(' ');
    await form.photo.setInputFiles({ name: 'p.jpg', mimeType: 'image/jpeg', buffer });
    await submit.click();

    await expect(page).toHaveURL(/submit-report$/);
    for (const message of [text.errors.phone, text.errors.issue_description]) {
      await expect(page.getByText(message).first()).toBeVisible();
    }
    await expect(page.locator('[name=product_name]')).toHaveValue(product);
    await expect(page.locator('[name=location]')).toHaveValue('Bari');
    await expect(page.locator('[name=country]')).toHaveValue('252');
    const header = page.getByRole('banner');
    await expect(header.getByRole('link', { name: 'Daawo' })).toHaveAttribute('href', to('/'));
    await expect(header.getByRole('link', { name: words.layout.exit })).toHaveAttribute('data-quick-exit');
    const other = header.getByRole('link', { name: words.layout.switchLanguage });
    await expect(other).toHaveAttribute('href', language === 'so' ? '/report/' : '/so/report/');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await page.getByRole('link', { name: text.errors.issue_description }).click();
    await expect(page.locator('[name=issue_description]')).toBeInViewport();
    expect(await reportsNamed(product)).toEqual([]);

    await page.locator('[name=phone]').fill('+252 61 234 5678');
    await page.locator('[name=issue_description]').fill('It burned.');
    await page.getByRole('button', { name: text.submit }).click();
    await expect(page).toHaveURL(new RegExp(`${to('/report/thank-you/')}#sent$`));
    const [stored] = await reportsNamed(product);
    expect(stored).toMatchObject({ location: 'Bari', issue_description: 'It burned.', language });
    await expectNoMetadata(stored.photo_url);
  });

  test(`the plain form stores a date in Arabic-Indic digits (${language})`, async ({ page }) => {
    const product = uniqueName('Dated cream');
    await page.goto(to('/report/'));
    const form = reportForm(page, text);
    await form.phone.fill('٦١٢٣٤٥٦٧٨');
    await form.product.fill(product);
    await form.showOptional();
    await form.expiry.fill('٠٨/٢٠٢٦');
    await page.locator('select[name=location]').selectOption('Bari');
    await form.problem.fill('It burned.');
    await form.submit.click();
    await expect(page).toHaveURL(new RegExp(`${to('/report/thank-you/')}#sent$`));
    const [stored] = await reportsNamed(product);
    expect(stored).toMatchObject({ expiry_date: '2026-08-31', phone: '+252 612345678' });
  });

  test(`the thank-you page without a report links to the form (${language})`, async ({ page }) => {
    const { none, title } = words['thank-you'];
    await page.goto(to('/report/thank-you/'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(none.title);
    await expect(page.getByText(title)).toBeHidden();
    await page.getByRole('main').getByRole('link', { name: none.form }).click();
    await expect(page).toHaveURL(to('/report/'));
  });

  test(`the resources page links to the guides (${language})`, async ({ page }) => {
    await page.goto(to('/resources/'));
    await page.getByRole('link', { name: words.resources.noscriptLink }).click();
    await expect(page).toHaveURL(new RegExp(`${to('/learn/')}$`));
  });
}
