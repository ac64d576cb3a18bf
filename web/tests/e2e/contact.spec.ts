import { expect, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.contact;

  test(`contact in ${language}`, async ({ page }) => {
    await page.goto(to('/contact/'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.heading);

    await test.step('cards with links for e-mail, WhatsApp and Facebook', async () => {
      const { email, whatsapp, facebook } = text.channels;
      const cards = page.getByRole('main').locator('ul').first().getByRole('link');
      await expect(cards.locator('strong')).toHaveText([email.title, whatsapp.title, facebook.title]);
      await expect(cards.nth(0)).toHaveAttribute('href', /^mailto:\S+@\S+$/);
      await expect(cards.nth(1)).toHaveAttribute('href', /^https:\/\/wa\.me\/\d+$/);
      await expect(cards.nth(2)).toHaveAttribute('href', /^https:\/\//);
    });

    await test.step('office hours, locations and emergency WhatsApp', async () => {
      const office = page.getByRole('region', { name: text.officeTitle }).getByRole('listitem');
      const { hours, locations, emergency } = text;
      await expect(office.getByRole('heading')).toHaveText([hours.title, locations.title, emergency.title]);
      await expect(office.nth(0).getByRole('paragraph')).toHaveText([hours.days, hours.content]);
      await expect(office.nth(1).getByRole('paragraph')).toHaveText([locations.somalia, locations.toronto]);
      await expect(office.nth(2).getByRole('paragraph')).toHaveText([emergency.content]);
      const button = office.nth(2).getByRole('link', { name: emergency.action });
      await expect(button).toHaveAttribute('href', /^https:\/\/wa\.me\/\d+$/);
    });

    await test.step('disclaimer', async () => {
      await expect(page.getByRole('main').getByText(text.disclaimerTitle)).toBeVisible();
      await expect(page.getByText(text.disclaimer)).toBeVisible();
    });

    await test.step('button to the report section and link to the form', async () => {
      await page.setViewportSize({ width: 360, height: 640 });
      const section = page.getByRole('heading', { name: text.reportTitle });
      await expect(section).not.toBeInViewport();
      await page.getByRole('link', { name: text.scrollToReport }).click();
      await expect(section).toBeInViewport();
      await page.getByRole('main').getByRole('link', { name: text.goToReport }).click();
      await expect(page).toHaveURL(new RegExp(`${to('/report/')}$`));
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(words.report.title);
    });
  });
}
