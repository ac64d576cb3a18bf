import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.about;

  test(`about in ${language}`, async ({ page }) => {
    await page.goto(to('/about/'));

    await test.step('mission and vision', async () => {
      const headings = page.getByRole('main').getByRole('heading');
      await expect(headings.nth(0)).toHaveText(text.heading);
      await expect(headings.nth(1)).toHaveText(text.mission.title);
      await expect(headings.nth(2)).toHaveText(text.vision.title);
      await expect(page.getByText(text.mission.content)).toBeVisible();
      await expect(page.getByText(text.vision.content)).toBeVisible();
    });

    await test.step('four core values in order', async () => {
      const values = page.getByRole('region', { name: text.valuesTitle }).getByRole('listitem');
      const { respect, evidence, community, transparency } = text.values;
      const inOrder = [respect, evidence, community, transparency];
      await expect(values.getByRole('heading')).toHaveText(inOrder.map(({ title }) => title));
      await expect(values.locator('[data-slot=card-description]')).toHaveText(
        inOrder.map(({ content }) => content),
      );
    });

    await test.step('three figures with labels', async () => {
      const figures = page.getByRole('region', { name: text.figuresTitle });
      await expect(figures.getByRole('definition')).toHaveText(['1000+', '50+', '24/7']);
      const { educated, reported, support } = text.figures;
      await expect(figures.getByRole('term')).toHaveText([educated, reported, support]);
    });

    await test.step('link to contact', async () => {
      const link = page.getByRole('main').getByRole('link', { name: text.contact });
      await expect(link).toHaveAttribute('href', to('/contact/'));
    });
  });
}
