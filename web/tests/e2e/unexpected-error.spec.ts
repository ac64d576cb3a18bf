import { expect, live, test } from './fixtures';
import { inBothLanguages } from './languages';

test.use({ allowConsole: /a part that is broken/ });

for (const { language, words, to } of inBothLanguages) {
  const text = words['unexpected-error'];

  test(`an unexpected error shows its text and a link home (${language})`, async ({ page }) => {
    await page.route('**/assets/about-screen-*.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'throw new Error("a part that is broken")' }),
    );
    await page.goto(to('/resources/'));
    await live(page);
    await page.getByRole('contentinfo').getByRole('link', { name: words.layout.nav.about }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.title);
    await expect(page.getByText('a part that is broken')).toBeVisible();
    await page.getByRole('link', { name: text.home }).click();
    await expect(page).toHaveURL(new RegExp(`${to('/')}$`));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(words.home.heading);
  });
}

test('the English title is that of the specification', () => {
  const [english] = inBothLanguages;
  expect(english?.words['unexpected-error'].title).toBe('Unexpected Application Error!');
});
