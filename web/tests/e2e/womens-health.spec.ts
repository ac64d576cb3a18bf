import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words['womens-health'];

  test.describe(`women’s health in ${language}`, () => {
    test.beforeEach(({ page }) => page.goto(to('/women-health/')));

    test('opens with a headline and three statistics', async ({ page }) => {
      const main = page.getByRole('main');
      await expect(main.getByRole('heading', { level: 1 })).toHaveText(text.heading);
      await expect(main.getByRole('definition')).toHaveText(['85%', '60%', '95%']);
      const { unsafe, risks, prevention } = text.statistics;
      await expect(main.getByRole('term')).toHaveText([unsafe, risks, prevention]);
    });

    test('lists three risks, two of high severity and one of medium', async ({ page }) => {
      const risks = page.getByRole('region', { name: text.risksTitle }).getByRole('listitem');
      const { mercury, steroids, hydroquinone } = text.risks;
      await expect(risks).toHaveCount(3);
      await expect(risks).toContainText([mercury.title, steroids.title, hydroquinone.title]);
      const { high, medium } = text.severity;
      await expect(risks.locator('[data-slot=badge]')).toHaveText([high, high, medium]);
    });

    test('offers safe alternatives', async ({ page }) => {
      const alternatives = page.getByRole('region', { name: text.alternativesTitle }).getByRole('heading');
      const { sunscreen, moisturizers, consultation } = text.alternatives;
      await expect(alternatives).toHaveText([
        text.alternativesTitle,
        sunscreen.title,
        moisturizers.title,
        consultation.title,
      ]);
    });

    test('celebrates natural beauty and invites to the community', async ({ page }) => {
      await expect(page.getByRole('heading', { name: text.beautyTitle })).toBeVisible();
      await expect(page.getByRole('heading', { name: text.communityTitle })).toBeVisible();
      const whatsapp = page.getByRole('main').getByRole('link', { name: text.whatsapp });
      await expect(whatsapp).toHaveAttribute('href', /^https:\/\/wa\.me\/\d+$/);
      const facebook = page.getByRole('main').getByRole('link', { name: text.facebook });
      await expect(facebook).toHaveAttribute('href', /^https:\/\//);
    });

    test('the guide’s button only shows an alert, once, before and after hydration', async ({ page }) => {
      const alerts: string[] = [];
      page.on('dialog', (dialog) => {
        alerts.push(dialog.message());
        return dialog.accept();
      });
      const button = page.getByRole('button', { name: text.download });
      await button.click();
      expect(alerts).toEqual([text.downloadAlert]);
      await page.locator('html[data-live]').waitFor({ state: 'attached' });
      await button.click();
      expect(alerts).toEqual([text.downloadAlert, text.downloadAlert]);
    });

    test.describe('leaving', () => {
      test.use({ allowOrigin: `https://${language}.wikipedia.org` });

      test('is quick and leaves no way back', async ({ page, context }) => {
        await context.route(/wikipedia\.org/, (route) => route.fulfill({ body: 'elsewhere' }));
        await page.evaluate(() => sessionStorage.setItem('something', 'typed'));
        await page.getByRole('link', { name: words.layout.exit }).click();
        await page.waitForURL(/wikipedia\.org/);
        await page.goBack();
        expect(page.url()).not.toContain('women-health');
      });
    });
  });

  test.describe(`women’s health in ${language} while no script arrives`, () => {
    test.use({ allowConsole: /ERR_FAILED|dynamically imported module/ });

    test('shows the alert all the same', async ({ page }) => {
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

test('the English words are those of the specification', async ({ page }) => {
  await page.goto('/women-health/');
  const main = page.getByRole('main');
  for (const words of [
    'Unsafe Products',
    'Health Risks',
    'Prevention Rate',
    'Safe Alternatives',
    'Daily sunscreen protection',
    'Gentle moisturizers',
    'Professional consultation',
    'Celebrate Your Natural Beauty',
    'Join Our Community',
    'Join WhatsApp Group',
    'Follow on Facebook',
    "Download Women's Safety Guide",
  ]) {
    await expect(main.getByText(words, { exact: true })).toBeVisible();
  }
  page.once('dialog', async (dialog) => {
    expect(dialog.message()).toBe('Safety guide download will be available soon');
    await dialog.accept();
  });
  await main.getByRole('button', { name: "Download Women's Safety Guide" }).click();
});
