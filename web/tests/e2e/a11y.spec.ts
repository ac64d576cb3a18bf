import type { Page } from '@playwright/test';
import { colours, violations } from './axe';
import { expect, live, loaded, test } from './fixtures';
import { spokenIn } from './languages';
import { everyDocument } from './pages';
import { expectReflow } from './reflow';
import { reportForm } from './report-form';

/** Returns the targets that are too small for touch. */
function smallControls(page: Page) {
  return page.evaluate(() =>
    Array.from(
      document.querySelectorAll<HTMLElement>('button, select, summary, nav a, input:not([type=hidden])'),
    )
      .filter((control) => control.checkVisibility() && !control.classList.contains('sr-only'))
      .filter((control) => control.getBoundingClientRect().height < 44)
      .map((control) => control.outerHTML.slice(0, 120)),
  );
}

/** Returns the targets of the open calendar that are too small, covered or off the screen. */
function hardToHit(page: Page, narrowest: number) {
  return page.getByRole('dialog').evaluate((dialog, narrowest) => {
    return Array.from(dialog.querySelectorAll('button, select'))
      .filter((control) => {
        const { left, right, top, bottom, width, height } = control.getBoundingClientRect();
        const free = [left + 3, right - 3].every((x) =>
          control.contains(document.elementFromPoint(x, (top + bottom) / 2)),
        );
        return width < narrowest || height < 44 || !free;
      })
      .map((control) => control.outerHTML.slice(0, 120));
  }, narrowest);
}

/** Returns the buttons and fields without an edge, which forced colours would leave as bare text. */
function withoutEdge() {
  const controls = 'main :is(button, select, textarea, input:not([type=hidden]), .bg-primary, .bg-henna)';
  return [...document.querySelectorAll<HTMLElement>(controls)]
    .filter((each) => each.checkVisibility() && !each.classList.contains('sr-only'))
    .filter((each) => /\bbg-|\bborder/.test(each.className)) // else it looks like a link
    .filter((each) => ['none', 'hidden'].includes(getComputedStyle(each).borderTopStyle))
    .map((each) => each.outerHTML.slice(0, 120));
}

for (const { path } of everyDocument) {
  test(`${path} meets WCAG 2.2 AA, also in dark, forced colours, narrow windows and large text`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' }); // no transitions of colours
    await page.goto(path);
    await loaded(page);
    if (path.endsWith('/resources/')) await page.getByRole('listitem').getByRole('button').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page, colours)).toEqual([]);

    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
    expect(await page.evaluate(withoutEdge)).toEqual([]);
    // Pictures repeat the words, so only those in a figure need colours of their own.
    const current = page.locator('header nav [aria-current]');
    if ((await current.count()) > 0) await expect(current.first()).toHaveCSS('font-weight', '600');
    await page.emulateMedia({ forcedColors: 'none' });

    // A small phone, or a 1280 px page at 400 %.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    expect(await smallControls(page)).toEqual([]);
    await expectReflow(page, path);
  });
}

for (const { language, words, to } of spokenIn('so')) {
  test(`the calendar fits touch (${language})`, async ({ page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(to('/report/'));
    await live(page);
    const form = reportForm(page, words.report);
    const { calendar } = form;
    await form.showOptional();
    for (const [width, narrowest] of [
      [1280, 44],
      [360, 44],
      [320, 38], // seven days in a row
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await calendar.evaluate((button) => button.scrollIntoView({ block: 'center' }));
      await calendar.click();
      await expect(async () => expect(await hardToHit(page, narrowest)).toEqual([])).toPass();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await page.keyboard.press('Escape');
    }
  });

  test(`the keyboard reaches every control in order, none below the header (${language})`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' }); // no smooth scrolling, so that positions can be measured
    await page.goto(to('/report/'));
    await live(page);
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: words.layout.skip });
    await expect(skip).toBeFocused();
    await expect(skip).toBeInViewport();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('main')).toBeFocused();

    const form = reportForm(page, words.report);
    const numbers = ['911', '999'].map((name) => page.getByRole('main').getByRole('link', { name }));
    const required = [...numbers, form.country, form.phone, form.product, form.region, form.problem];
    const optional = [form.photo, form.name, form.bought, form.batch, form.expiry, form.calendar];
    await form.showOptional();
    await page.getByRole('main').focus();
    for (const control of [
      ...required,
      page.locator('summary', { has: form.more }),
      ...optional,
      form.submit,
    ]) {
      await page.keyboard.press('Tab');
      await expect(control).toBeFocused();
    }
    // Backwards, the sticky header must not cover the focused element.
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Shift+Tab');
      const hidden = await page.evaluate(() => {
        const focused = document.activeElement?.getBoundingClientRect();
        const header = document.querySelector('header')?.getBoundingClientRect();
        return focused && header ? focused.top < header.bottom - 1 && focused.height > 1 : true;
      });
      expect(hidden).toBe(false);
    }
  });

  test(`a place can be chosen by keyboard (${language})`, async ({ page }) => {
    await page.goto(to('/report/'));
    await live(page);
    const form = reportForm(page, words.report);
    await form.region.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('listbox').waitFor();
    await page.keyboard.press('ArrowDown');
    await expect(page.getByRole('option').nth(1)).toBeFocused();
    // The focus ring is inside the option: the list would clip one outside.
    await expect(page.getByRole('option').nth(1)).toHaveCSS('outline', /\bsolid 3px$/);
    await expect(page.getByRole('option').nth(1)).toHaveCSS('outline-offset', '-3px');
    await page.keyboard.press('Enter');
    await expect(page.locator('input[name=location]')).not.toHaveValue('');
    await expect(form.region).toBeFocused();
    await expect(form.district).toBeVisible();
  });
}
