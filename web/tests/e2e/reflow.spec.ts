import { expect, live, test } from './fixtures';
import { inBothLanguages } from './languages';
import { cutElements, resize, sizes, unreachable } from './reflow';
import { reportForm } from './report-form';

for (const { language, words, to } of inBothLanguages) {
  test(`the form with errors, open fold and lists fits narrow windows and text of twice the size (${language})`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(to('/report/'));
    await live(page);
    const form = reportForm(page, words.report);
    await form.submit.click();
    await expect(form.summary).toBeVisible();
    await form.showOptional();
    await form.chooseRegion('Woqooyi Galbeed (Woqooyi Galbeed)');
    for (const size of sizes) {
      await test.step(size.name, async () => {
        await resize(page, size);
        expect(await cutElements(page), size.name).toEqual([]);
        expect(await unreachable(page, 'main'), size.name).toEqual([]);
        await form.district.click();
        await page.getByRole('listbox').waitFor();
        expect(await cutElements(page), `${size.name}, list`).toEqual([]);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('listbox')).toBeHidden(); // while it is open, nothing else can be clicked
        await page.locator('[data-sonner-toast]').waitFor({ state: 'detached' });
      });
    }
  });
}
