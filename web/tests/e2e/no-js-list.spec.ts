import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

test.use({ javaScriptEnabled: false });

for (const { language, words, to } of inBothLanguages) {
  const text = words.resources;

  test(`the plain list can be narrowed, and its files are counted (${language})`, async ({ page }) => {
    await page.goto(to('/resources/'));
    await page.getByRole('link', { name: text.plainList }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page.getByRole('heading', { level: 2 })).toHaveText([text.featured, text.list]);
    const list = page.getByRole('heading', { name: text.list }).locator('~ ul').getByRole('listitem');
    const all = await list.count();
    await page.getByLabel(text.filters.topic).selectOption('Medicine');
    await page.getByLabel(text.filters.language).selectOption(language);
    await page.getByRole('button', { name: text.filters.title }).click();
    const cards = list.filter({ hasText: words.learn.categories.Medicine });
    await expect(cards).toHaveCount(2);
    expect(await list.count()).toBeLessThan(all);
    await expect(page.getByLabel(text.filters.topic)).toHaveValue('Medicine');

    const count = async () =>
      Number(
        /\d+/.exec(
          (await cards
            .first()
            .getByText(/^\D*\d+\D*$/)
            .textContent()) ?? '',
        )?.[0],
      );
    const before = await count();
    const address = page.url();
    const file = page.waitForResponse(/\.pdf$/);
    await cards.first().getByRole('button').click();
    expect((await file).status()).toBe(200);
    await page.goto(address);
    expect(await count()).toBeGreaterThan(before);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
  });
}
