import type { Guide } from '@/content/guides';
import { expect, test } from './fixtures';
import { guides, slugs } from './guides';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.learn;

  test.describe(`learn in ${language}`, () => {
    test.beforeEach(({ page }) => page.goto(to('/learn/')));

    test('shows six guides in their order: category, title, description, link', async ({ page }) => {
      const cards = page.getByRole('region', { name: text.guidesTitle }).getByRole('link');
      await expect(cards).toHaveCount(6);
      for (const [at, slug] of slugs.entries()) {
        const { title, description, category } = guides[language][slug] as Guide;
        const card = cards.nth(at);
        await expect(card).toHaveAttribute('href', to(`/learn/${slug}/`));
        await expect(card.getByRole('heading')).toHaveText(title);
        await expect(card).toContainText(text.categories[category]);
        await expect(card).toContainText(description);
      }
    });

    test('lists the key health risks in their order', async ({ page }) => {
      const risks = page.getByRole('region', { name: text.risksTitle }).getByRole('listitem');
      const { antibiotics, painkillers, creams, expired, pregnancy } = text.risks;
      const inOrder = [antibiotics, painkillers, creams, expired, pregnancy];
      await expect(risks).toHaveCount(5);
      await expect(risks).toContainText(inOrder.map(({ title }) => title));
      await expect(risks).toContainText(inOrder.map(({ content }) => content));
    });

    test('says that your skin is beautiful, and what to do after a bad reaction', async ({ page }) => {
      await expect(page.getByRole('heading', { name: text.beautyTitle })).toBeVisible();
      await expect(page.getByText(text.beauty)).toBeVisible();
      await expect(page.getByText(text.reminderTitle, { exact: true })).toBeVisible();
      await expect(page.getByText(text.reminder)).toBeVisible();
      const report = page.getByRole('main').getByRole('link', { name: text.report });
      await expect(report).toHaveAttribute('href', to('/report/'));
    });
  });
}

test('the English categories and the slugs are those of the specification', () => {
  const categories = slugs.map((slug) => guides.en[slug]?.category);
  expect(new Set(categories)).toEqual(new Set(['Safety', 'Medicine', "Women's Health"]));
  expect(slugs).toEqual([
    'how-to-read-labels',
    'antibiotics-guide',
    'skin-cream-dangers',
    'pregnancy-medicine',
    'expired-medicines',
    'pain-management',
  ]);
});
