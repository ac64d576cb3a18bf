import type { Locator } from '@playwright/test';
import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words['womens-health'];

  test.describe(`women’s health in ${language}`, () => {
    test.beforeEach(({ page }) => page.goto(to('/women-health/')));

    test('has statistics, risks, alternatives, beauty and community', async ({ page }) => {
      const main = page.getByRole('main');

      await test.step('headline and three statistics', async () => {
        await expect(main.getByRole('heading', { level: 1 })).toHaveText(text.heading);
        const { unsafe, risks, prevention } = text.statistics;
        const figures = main.locator('dl').first();
        const counts = [unsafe.counts, risks.counts, prevention.counts];
        await expect(figures.getByRole('definition')).toHaveText(
          ['85%', '60%', '95%'].flatMap((figure, at) => [figure, counts[at] ?? '']),
        );
        await expect(figures.getByRole('term')).toHaveText([unsafe.name, risks.name, prevention.name]);
      });

      await test.step('three risks, two of high severity and one of medium', async () => {
        const risks = page.getByRole('region', { name: text.risksTitle }).getByRole('listitem');
        const { mercury, steroids, hydroquinone } = text.risks;
        await expect(risks.getByRole('heading')).toHaveText([
          mercury.title,
          steroids.title,
          hydroquinone.title,
        ]);
        const { high, medium } = text.severity;
        await expect(risks.locator('[data-slot=badge]')).toHaveText([high, high, medium]);
      });

      await test.step('safe alternatives', async () => {
        const alternatives = page.getByRole('region', { name: text.alternativesTitle }).getByRole('heading');
        const { sunscreen, moisturizers, consultation } = text.alternatives;
        await expect(alternatives).toHaveText([
          text.alternativesTitle,
          sunscreen.title,
          moisturizers.title,
          consultation.title,
        ]);
      });

      await test.step('natural beauty, then the community', async () => {
        await expect(main.getByRole('heading', { level: 2 })).toHaveText([
          text.risksTitle,
          text.familyTitle,
          text.alternativesTitle,
          text.beautyTitle,
          text.communityTitle,
          text.readTitle,
        ]);
        const card = main.locator('[data-slot=card]').filter({ hasText: text.communityTitle });
        await expect(card.getByRole('link')).toHaveText([text.whatsapp, text.facebook]);
        await expect(card.getByRole('link').nth(0)).toHaveAttribute('href', /^https:\/\/wa\.me\/\d+$/);
        await expect(card.getByRole('link').nth(1)).toHaveAttribute('href', /^https:\/\//);
      });
    });

    test('the guides are louder than the button that says “soon”', async ({ page }) => {
      const main = page.getByRole('main');
      const colorOf = (each: Locator) =>
        each.evaluate((element) => getComputedStyle(element).backgroundColor);
      const primary = await colorOf(main.getByRole('link', { name: text.readCreams }));
      expect(await colorOf(main.getByRole('link', { name: text.readPregnancy }))).toBe(primary);
      expect(await colorOf(main.getByRole('button', { name: text.download }))).not.toBe(primary);
      await expect(main.getByText(text.figures)).toBeVisible();
      const beauty = main.locator('section').filter({ hasText: text.beautyTitle });
      await expect(beauty.locator('svg')).toBeVisible();
    });

    test.describe('quick exit', () => {
      test.use({ allowOrigin: `https://${language}.wikipedia.org` });

      test('replaces the history entry', async ({ page, context }) => {
        await context.route(/wikipedia\.org/, (route) => route.fulfill({ body: 'elsewhere' }));
        await page.evaluate(() => sessionStorage.setItem('something', 'typed'));
        await page.getByRole('link', { name: words.layout.exit }).click();
        await page.waitForURL(/wikipedia\.org/);
        await page.goBack();
        expect(page.url()).not.toContain('women-health');
        await page.goto(to('/women-health/'));
        expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
      });
    });
  });

  test(`women’s health in ${language} has pregnancy, breastfeeding and help lines`, async ({ page }) => {
    await page.goto(to('/women-health/'));
    const family = page.getByRole('region', { name: text.familyTitle });
    const { pregnancy, breastfeeding } = text.family;
    await expect(family.getByRole('listitem')).toHaveText([...pregnancy.items, ...breastfeeding.items]);
    for (const number of ['911', '811', '999', '1-844-764-7669'])
      await expect(family.getByRole('link', { name: number })).toHaveAttribute('href', `tel:${number}`);
  });

  test(`the guide’s button shows one alert, before and after hydration (${language})`, async ({ page }) => {
    await page.goto(to('/women-health/'));
    const alerts: string[] = [];
    page.on('dialog', (dialog) => {
      alerts.push(dialog.message());
      return dialog.accept();
    });
    const button = page.getByRole('button', { name: text.download });
    await button.click();
    expect(alerts).toEqual([text.downloadAlert]);
    await button.click();
    expect(alerts).toEqual([text.downloadAlert, text.downloadAlert]);
  });

  test.describe(`women’s health in ${language} without the application`, () => {
    test.use({ allowConsole: /ERR_FAILED|dynamically imported module/ });

    test('shows the alert', async ({ page }) => {
      await page.route('**/assets/**', (route) => route.abort());
      await page.goto(to('/women-health/'));
      const message = page.waitForEvent('dialog').then(async (dialog) => {
        await dialog.accept();
        return dialog.message();
      });
      await page.getByRole('button', { name: text.download }).click();
      expect(await message).toBe(text.downloadAlert);
    });
  });
}
