import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';
import { type Stack, startStack } from './own-stack';

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

    await test.step('no part of the organisation that the installation does not name', async () => {
      const organisation = page.getByRole('region', { name: text.organisation.title });
      await expect(organisation.getByRole('heading')).toHaveText([text.organisation.title]);
      await expect(organisation).toContainText(text.organisation.content);
    });

    await test.step('link to contact', async () => {
      const link = page.getByRole('main').getByRole('link', { name: text.contact });
      await expect(link).toHaveAttribute('href', to('/contact/'));
    });
  });
}

test.describe('an installation that names its organisation', () => {
  let stack: Stack;
  test.beforeAll(async () => {
    stack = await startStack(() => ({
      ORGANISATION_PEOPLE: 'A. Person, "pharmacist"; B. Person <i>',
      ORGANISATION_ADDRESS: '1 Example Road;Toronto',
      ORGANISATION_REVIEWERS: "C. O'Person, doctor",
    }));
  });
  test.afterAll(() => stack?.stop());

  for (const { language, words, to } of inBothLanguages) {
    for (const javaScriptEnabled of [true, false]) {
      test(`shows it in ${language} ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async ({
        browser,
      }) => {
        const context = await browser.newContext({ javaScriptEnabled });
        const page = await context.newPage();
        const errors: Error[] = [];
        page.on('pageerror', (error) => errors.push(error));
        const { title, people, address, reviewers } = words.about.organisation;
        await page.goto(stack.settings.API_URL + to('/about/'));
        const organisation = page.getByRole('region', { name: title });
        await expect(organisation.getByRole('heading')).toHaveText([title, people, address, reviewers]);
        await expect(organisation).toContainText('A. Person, "pharmacist"\nB. Person <i>', {
          useInnerText: true,
        });
        await expect(organisation).toContainText("C. O'Person, doctor");
        await page.goto(stack.settings.API_URL + to('/'));
        await expect(page.getByText('B. Person <i>')).toBeVisible();
        expect(errors).toEqual([]);
        await context.close();
      });
    }
  }
});
