import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words['not-found'];

  test(`a missing page in ${language} logs its path once and links home`, async ({ page }) => {
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    const path = to('/no/such/page/');
    const response = await page.goto(path);
    expect(response?.status()).toBe(404);
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.title);
    await expect(page.locator('meta[name=robots]')).toHaveAttribute('content', 'noindex');

    expect(errors.filter((error) => error.includes(path))).toEqual([`404: no page at ${path}`]);

    await page.getByRole('link', { name: text.home }).click();
    await expect(page).toHaveURL(new RegExp(`${to('/')}$`));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(words.home.heading);
  });
}

test('paths are case-sensitive', async ({ page }) => {
  const [{ words }] = inBothLanguages as [(typeof inBothLanguages)[0]];
  for (const path of ['/Learn/', '/SO/learn/']) {
    expect((await page.goto(path))?.status()).toBe(404);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(words['not-found'].title);
  }
});

test('the icon at the address that browsers guess, and a doubled slash', async ({ request }) => {
  const icon = await request.get('/favicon.ico');
  expect(icon.status()).toBe(200);
  expect(icon.headers()['content-type']).toMatch(/^image\//);
  const doubled = await request.get('/report//', { maxRedirects: 0 });
  expect(doubled.status()).toBe(308);
  expect(doubled.headers().location).toBe('/report/');
});
