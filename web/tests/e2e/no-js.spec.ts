import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';
import { everyPage } from './pages';
import { jpeg, withPlace } from './photos';
import { reportsNamed, storedPhoto, uniqueName } from './stack';

test.use({ javaScriptEnabled: false });

for (const { path, words, language } of everyPage) {
  test(`${path} is complete without scripts`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 640 });
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

for (const { language, words, to } of inBothLanguages) {
  const text = words.report;

  test(`the plain form is stored, photo too, and thanked for (${language})`, async ({ page, browser }) => {
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

    await expect(page).toHaveURL(new RegExp(`${to('/report/thank-you/')}$`));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(words['thank-you'].title);
    await expect(page.locator('meta[name=robots]')).toHaveAttribute('content', 'noindex');
    await expect(page.frameLocator('iframe').getByText(/DW-[0-9A-Z]{4}-[0-9A-Z]{4}/)).toBeVisible();

    const reports = await reportsNamed(product);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({ phone: '+252 612345678', location: 'Banaadir, Hodan', language });
    expect((await storedPhoto(reports[0].photo_url)).includes('Exif')).toBe(false);
  });

  test(`the plain form comes back with messages and what was typed (${language})`, async ({ page }) => {
    test.info().annotations.push({ type: 'note', description: 'a browser without native validation' });
    await page.goto(to('/report/'));
    const answer = await page.request.post('/functions/v1/submit-report', {
      multipart: {
        language,
        product_name: 'Half <b>filled</b>',
        phone: '',
        location: '',
        issue_description: '',
      },
    });
    expect(answer.status()).toBe(422);
    const html = await answer.text();
    for (const message of [text.errors.phone, text.errors.location, text.errors.issue_description]) {
      expect(html).toContain(message);
    }
    expect(html).toContain('Half &lt;b&gt;filled');
  });

  test(`resources lead to the guides (${language})`, async ({ page }) => {
    await page.goto(to('/resources/'));
    await page.getByRole('link', { name: words.resources.noscriptLink }).click();
    await expect(page).toHaveURL(new RegExp(`${to('/learn/')}$`));
  });
}
