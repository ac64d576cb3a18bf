import type { Guide } from '@/content/guides';
import { expect, test } from './fixtures';
import { guides, slugs } from './guides';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.learn;

  test(`learn in ${language}`, async ({ page }) => {
    await page.goto(to('/learn/'));

    await test.step('six guides in order with category, title, description and link', async () => {
      const cards = page.getByRole('region', { name: text.guidesTitle }).getByRole('link');
      await expect(cards).toHaveCount(6);
      for (const [at, slug] of slugs.entries()) {
        const { title, description, category } = guides[language][slug] as Guide;
        const card = cards.nth(at);
        await expect(card).toHaveAttribute('href', to(`/learn/${slug}/`));
        await expect(card.getByRole('heading')).toHaveText(title);
        await expect(card.locator('[data-slot=badge]')).toHaveText(text.categories[category]);
        await expect(card.locator('[data-slot=card-description]')).toHaveText(description);
      }
    });

    await test.step('key health risks in order', async () => {
      const risks = page.getByRole('region', { name: text.risksTitle }).getByRole('listitem');
      const { antibiotics, painkillers, creams, expired, pregnancy } = text.risks;
      const inOrder = [antibiotics, painkillers, creams, expired, pregnancy];
      await expect(risks.getByRole('heading')).toHaveText(inOrder.map(({ title }) => title));
      await expect(risks.getByRole('paragraph')).toHaveText(inOrder.map(({ content }) => content));
    });

    await test.step('message about skin and reminder after a reaction', async () => {
      const headings = page.getByRole('main').getByRole('heading', { level: 2 });
      await expect(headings).toHaveText([text.guidesTitle, text.risksTitle, text.beautyTitle]);
      await expect(page.getByText(text.beauty)).toBeVisible();
      const reminder = page.getByRole('main').locator('[data-slot=alert]');
      await expect(reminder).toContainText(text.reminderTitle);
      await expect(reminder).toContainText(text.reminder);
      const report = reminder.getByRole('link', { name: text.report });
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
