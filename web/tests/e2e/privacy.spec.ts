import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.privacy;

  test(`privacy in ${language} has its date and five sections in order`, async ({ page }) => {
    await page.goto(to('/privacy/'));
    const main = page.getByRole('main');
    await expect(main.getByRole('heading', { level: 1 })).toHaveText(text.heading);
    await expect(main.getByText(text.updated)).toBeVisible();
    await expect(main.getByRole('heading', { level: 2 })).toHaveText(text.sections.map(({ title }) => title));
    expect(text.sections).toHaveLength(5);
    for (const paragraph of text.sections.flatMap(({ paragraphs }) => paragraphs)) {
      await expect(main.getByText(paragraph)).toBeVisible();
    }
    const contents = main.getByRole('navigation', { name: text.contents }).getByRole('link');
    await expect(contents).toHaveText(text.sections.map(({ title }) => title));
    await contents.last().click();
    await expect(main.getByRole('heading', { name: text.sections.at(-1)?.title })).toBeInViewport();
    await expect(main.getByRole('link', { name: text.email })).toHaveAttribute('href', /^mailto:\S+@\S+$/);
    await expect(main.getByRole('link', { name: text.whatsapp })).toHaveAttribute(
      'href',
      /^https:\/\/wa\.me\//,
    );
  });
}
