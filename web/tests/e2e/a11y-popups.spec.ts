import type { Page } from '@playwright/test';
import { colours, violations } from './axe';
import { expect, live, onSlowConnection, test } from './fixtures';
import { spokenIn } from './languages';
import { openForm, reportForm } from './report-form';
import { uniqueName } from './stack';

/** While its list is open, Radix hides the rest of the page from screen readers, so only the list is checked. */
const list = '[role=listbox]';

/**
 * Expects no violation in light, and no pale text in dark: only colours depend on the scheme. The page looks as it did when
 * the function returns.
 */
async function expectNone(page: Page, what: string, within?: string) {
  for (const [colorScheme, rules] of [
    ['dark', colours],
    ['light', undefined],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }); // no transitions of colours
    expect(await violations(page, rules, within), `${what}, ${colorScheme}`).toEqual([]);
  }
}

for (const { language, words, to } of spokenIn('so')) {
  test(`the open menu meets WCAG 2.2 AA (${language})`, async ({ page }) => {
    await onSlowConnection(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(to('/'));
    await page.locator('header summary').click();
    await expect(page.locator('header details nav')).toBeVisible();
    await expectNone(page, 'menu');
  });

  test(`errors, toast, open fold, lists and calendar of the form do (${language})`, async ({ page }) => {
    test.slow(); // each state is checked twice, in two sizes
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await openForm(page, to);
    const form = reportForm(page, words.report);
    await form.submit.click();
    await expect(form.summary).toBeVisible();
    await page.locator('[data-sonner-toast]').waitFor(); // its code is loaded first
    await expectNone(page, 'errors and toast');
    await form.chooseRegion('Banaadir (Banaadir)');
    await form.showOptional();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 720 });
      for (const place of [form.region, form.district]) {
        await place.click();
        await page.getByRole('listbox').waitFor();
        await expectNone(page, `list at ${width} px`, list);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('listbox')).toBeHidden();
      }
      await form.calendar.click();
      await page.getByRole('dialog').waitFor();
      await expectNone(page, `calendar at ${width} px`);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toBeHidden();
    }
  });
}

for (const { language, words, to } of spokenIn('en')) {
  test(`the question about a number and the receipt do (${language})`, async ({ page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await openForm(page, to);
    const form = reportForm(page, words.report);
    await form.fillRequired(uniqueName('Cream'));
    await form.phone.fill('0');
    await form.submit.click();
    await expect(page.getByText(words.report.phoneDoubt)).toBeVisible();
    await expectNone(page, 'question');
    await form.submit.click();
    await expect(page.locator('[data-receipt]')).toBeVisible();
    await expectNone(page, 'receipt');
  });

  test(`the announced exit, and the list with a filter and a toast do (${language})`, async ({ page }) => {
    await page.goto(to('/women-health/'));
    await page.keyboard.press('Escape');
    await expect(page.locator('[data-quick-exit] + *')).not.toBeEmpty();
    await expectNone(page, 'exit');
    await page.goto(to('/resources/'));
    await live(page);
    await page.getByLabel(words.resources.filters.topic).selectOption({ index: 1 });
    await page.getByRole('listitem').getByRole('button').last().click();
    await page.locator('[data-sonner-toast]').first().waitFor();
    await expectNone(page, 'list');
  });
}
