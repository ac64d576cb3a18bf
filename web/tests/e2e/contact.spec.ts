import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.contact;

  test.describe(`contact in ${language}`, () => {
    test.beforeEach(({ page }) => page.goto(to('/contact/')));

    test('has a card for e-mail, WhatsApp and Facebook, each opening its link', async ({ page }) => {
      const { email, whatsapp, facebook } = text.channels;
      const cards = page.getByRole('main').locator('ul').first().getByRole('link');
      await expect(cards).toContainText([email.title, whatsapp.title, facebook.title]);
      await expect(cards.nth(0)).toHaveAttribute('href', /^mailto:\S+@\S+$/);
      await expect(cards.nth(1)).toHaveAttribute('href', /^https:\/\/wa\.me\/\d+$/);
      await expect(cards.nth(2)).toHaveAttribute('href', /^https:\/\//);
    });

    test('gives office hours, places and the emergency WhatsApp', async ({ page }) => {
      const office = page.getByRole('region', { name: text.officeTitle }).getByRole('listitem');
      const { hours, locations, emergency } = text;
      await expect(office).toContainText([hours.title, locations.title, emergency.title]);
      await expect(office.nth(0)).toContainText(hours.days);
      await expect(office.nth(0)).toContainText(hours.content);
      await expect(office.nth(1)).toContainText(locations.somalia);
      await expect(office.nth(1)).toContainText(locations.toronto);
      await expect(office.nth(2)).toContainText(emergency.content);
      const button = office.nth(2).getByRole('link', { name: emergency.action });
      await expect(button).toHaveAttribute('href', /^https:\/\/wa\.me\/\d+$/);
    });

    test('scrolls to the report section, which leads to the form', async ({ page }) => {
      await page.setViewportSize({ width: 360, height: 640 });
      const section = page.getByRole('heading', { name: text.reportTitle });
      await expect(section).not.toBeInViewport();
      await page.getByRole('link', { name: text.scrollToReport }).click();
      await expect(section).toBeInViewport();
      const report = page.getByRole('main').getByRole('link', { name: text.goToReport });
      await expect(report).toHaveAttribute('href', to('/report/'));
    });

    test('says that it is not a hospital', async ({ page }) => {
      await expect(page.getByRole('main').getByText(text.disclaimerTitle)).toBeVisible();
      await expect(page.getByText(text.disclaimer)).toBeVisible();
    });
  });
}

test('the English words are those of the specification', async ({ page }) => {
  await page.goto('/contact/');
  const main = page.getByRole('main');
  await expect(main).toContainText('Mon–Fri 9:00–17:00');
  await expect(main).toContainText('Available for consultations and reports');
  await expect(main).toContainText('Toronto, Canada');
  await expect(main).toContainText('Available 24/7 for urgent cases');
});
