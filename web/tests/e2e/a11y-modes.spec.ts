import { expect, loaded, test } from './fixtures';
import { everyDocument } from './pages';

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
  test(`${path} keeps its edges and its text in forced colours`, async ({ page }) => {
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(path);
    await loaded(page);
    if (path.endsWith('/resources/')) await page.getByRole('listitem').getByRole('button').first().waitFor();
    expect(await page.evaluate(withoutEdge)).toEqual([]);
    // Pictures repeat the words, so only those in a figure need colours of their own.
    const current = page.locator('header nav [aria-current]');
    if ((await current.count()) > 0) await expect(current.first()).toHaveCSS('font-weight', '600');
  });
}
