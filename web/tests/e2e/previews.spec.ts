import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

test.use({ allowConsole: /ERR_FAILED/ });

for (const { language, to } of inBothLanguages) {
  test(`a card shows the first page of the file in the page's language (${language})`, async ({ page }) => {
    await page.goto(to('/resources/'));
    const pictures = page.getByRole('main').locator('li img');
    await expect(pictures).toHaveCount(7);
    const others = pictures.nth(2); // the first two are featured files
    await others.scrollIntoViewIfNeeded();
    await expect.poll(() => others.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(160);
    await expect(others).toHaveAttribute('loading', 'lazy');
    await expect(others).toHaveAttribute('src', new RegExp(`\\.${language}\\.webp$`));
  });
}

test('the pictures of guides are lazy, too', async ({ page }) => {
  await page.route('**/rest/v1/resources*', async (route) => {
    const rows = await (await route.fetch()).json();
    for (const { guides } of rows) if (guides) guides.picture = '/icon-192.png';
    await route.fulfill({ json: rows });
  });
  await page.goto('/resources/');
  const pictures = page.getByRole('main').locator('li img');
  await expect(pictures.first()).toBeVisible();
  for (const picture of await pictures.all()) await expect(picture).toHaveAttribute('loading', 'lazy');
  await expect(page.getByRole('main').locator('li img[src="/icon-192.png"]')).not.toHaveCount(0);
});

test('a picture that does not arrive leaves no hole', async ({ page }) => {
  await page.route('**/*.webp', (route) => route.abort());
  await page.goto('/resources/');
  const items = page.getByRole('main').getByRole('listitem');
  await expect(items.first()).toBeVisible();
  for (const item of await items.all()) await item.scrollIntoViewIfNeeded();
  await expect(page.getByRole('main').locator('li img')).toHaveCount(0);
});
