import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.about;

  test.describe(`about in ${language}`, () => {
    test.beforeEach(({ page }) => page.goto(to('/about/')));

    test('says mission and vision', async ({ page }) => {
      const headings = page.getByRole('main').getByRole('heading');
      await expect(headings.nth(0)).toHaveText(text.heading);
      await expect(headings.nth(1)).toHaveText(text.mission.title);
      await expect(headings.nth(2)).toHaveText(text.vision.title);
      await expect(page.getByText(text.mission.content)).toBeVisible();
      await expect(page.getByText(text.vision.content)).toBeVisible();
    });

    test('names four core values in their order', async ({ page }) => {
      const values = page.getByRole('region', { name: text.valuesTitle }).getByRole('listitem');
      const { respect, evidence, community, transparency } = text.values;
      const inOrder = [respect, evidence, community, transparency];
      await expect(values).toHaveCount(4);
      await expect(values).toContainText(inOrder.map(({ title }) => title));
      await expect(values).toContainText(inOrder.map(({ content }) => content));
    });

    test('shows three figures with what they count', async ({ page }) => {
      const figures = page.getByRole('region', { name: text.figuresTitle });
      await expect(figures.getByRole('definition')).toHaveText(['1000+', '50+', '24/7']);
      const { educated, reported, support } = text.figures;
      await expect(figures.getByRole('term')).toHaveText([educated, reported, support]);
    });

    test('leads to contact', async ({ page }) => {
      const link = page.getByRole('main').getByRole('link', { name: text.contact });
      await expect(link).toHaveAttribute('href', to('/contact/'));
    });
  });
}

test('the English values are those of the specification', async ({ page }) => {
  await page.goto('/about/');
  for (const value of ['Respect', 'Evidence', 'Community', 'Transparency']) {
    await expect(page.getByRole('heading', { name: value, exact: true })).toBeVisible();
  }
  for (const words of ['people educated', 'products reported', 'community support']) {
    await expect(page.getByText(words, { exact: true })).toBeVisible();
  }
});
