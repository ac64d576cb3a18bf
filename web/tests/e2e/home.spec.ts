import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.home;

  test.describe(`home in ${language}`, () => {
    test.beforeEach(({ page }) => page.goto(to('/')));

    test('opens with what the site is for and two ways on', async ({ page }) => {
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.heading);
      const main = page.getByRole('main');
      await expect(main.getByText(text.lead)).toBeVisible();
      await expect(main.getByRole('link').first()).toHaveText(text.learnRisks);
      await expect(main.getByRole('link', { name: text.learnRisks })).toHaveAttribute('href', to('/learn/'));
      const report = main.getByRole('link', { name: text.reportProduct, exact: true });
      await expect(report).toHaveAttribute('href', to('/report/'));
    });

    test('gives three tips in their order', async ({ page }) => {
      const tips = page.getByRole('region', { name: text.tipsTitle }).getByRole('listitem');
      const { mixing, expiry, sources } = text.tips;
      await expect(tips).toContainText([mixing.title, expiry.title, sources.title]);
      await expect(tips).toContainText([mixing.content, expiry.content, sources.content]);
    });

    test('leads to learn, women’s health, report and contact', async ({ page }) => {
      const links = page.getByRole('navigation', { name: text.quickTitle }).getByRole('link');
      const { learn, womensHealth, report, contact } = text.quick;
      await expect(links).toContainText([learn.title, womensHealth.title, report.title, contact.title]);
      const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(addresses).toEqual(['/learn/', '/women-health/', '/report/', '/contact/'].map(to));
    });
  });
}

test('the English words are those of the specification', async ({ page }) => {
  await page.goto('/');
  for (const words of [
    'Learn the risks',
    'Report a product',
    'Stop mixing creams',
    'Check expiry dates',
    'Buy from trusted sources',
  ]) {
    await expect(page.getByText(words, { exact: true })).toBeVisible();
  }
});
