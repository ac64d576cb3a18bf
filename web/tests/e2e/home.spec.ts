import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.home;

  test(`home in ${language}`, async ({ page }) => {
    await page.goto(to('/'));
    const main = page.getByRole('main');

    await test.step('hero with two buttons', async () => {
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.heading);
      await expect(main.getByText(text.lead)).toBeVisible();
      const buttons = main.locator('div:has(> h1)').getByRole('link');
      await expect(buttons).toHaveText([text.learnRisks, text.reportProduct]);
      await expect(buttons.nth(0)).toHaveAttribute('href', to('/learn/'));
      await expect(buttons.nth(1)).toHaveAttribute('href', to('/report/'));
    });

    await test.step('three tips in order', async () => {
      const tips = page.getByRole('region', { name: text.tipsTitle }).getByRole('listitem');
      const { mixing, expiry, sources } = text.tips;
      await expect(tips.getByRole('heading')).toHaveText([mixing.title, expiry.title, sources.title]);
      await expect(tips.locator('[data-slot=card-description]')).toHaveText([
        mixing.content,
        expiry.content,
        sources.content,
      ]);
    });

    await test.step('who stands behind the site, and a warning with its source', async () => {
      await expect(main.getByRole('heading', { name: text.about.title })).toBeVisible();
      await expect(main.getByRole('link', { name: text.about.link })).toHaveAttribute('href', to('/about/'));
      await expect(main.getByText(text.warning.content)).toBeVisible();
      for (const name of [text.warning.date, text.warning.all]) {
        await expect(main.getByRole('link', { name })).toHaveAttribute('href', /^https:\/\/www\.who\.int\//);
      }
    });

    await test.step('links to learn, women’s health, report and contact', async () => {
      const links = page.getByRole('navigation', { name: text.quickTitle }).getByRole('link');
      const { learn, womensHealth, report, contact } = text.quick;
      await expect(links.locator('strong')).toHaveText([
        learn.title,
        womensHealth.title,
        report.title,
        contact.title,
      ]);
      const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(addresses).toEqual(['/learn/', '/women-health/', '/report/', '/contact/'].map(to));
      await links.nth(1).click();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(words['womens-health'].heading);
    });
  });
}
