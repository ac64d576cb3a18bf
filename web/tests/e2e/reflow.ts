import { expect, type Page, test } from '@playwright/test';

/*
 * WCAG 1.4.4 and 1.4.10: text of twice the size and pages in narrow windows. Nothing is cut, nothing needs scrolling
 * sideways, and every control can be reached.
 */
export const sizes = [
  { name: 'a window of 256 px', width: 256, height: 640 },
  { name: '1280 × 720 at 200 %', width: 640, height: 360 }, // page zoom halves the window
  { name: '1280 × 1024 at 400 %', width: 320, height: 256 },
  { name: 'a phone with text of 200 %', width: 360, height: 640, text: 32 },
  { name: 'a tablet with text of 200 %', width: 768, height: 1024, text: 32 },
  { name: 'a desktop with text of 200 %', width: 1280, height: 720, text: 32 },
];

/** Sets the window's size, and the size of the text in pixels if the case has one. */
export async function resize(page: Page, { width, height, text }: (typeof sizes)[number]) {
  await page.setViewportSize({ width, height });
  await page.evaluate((size) => {
    document.documentElement.style.fontSize = size ? `${size}px` : '';
  }, text);
}

/** Returns the elements that reach beyond the window or whose content is cut. */
export function cutElements(page: Page) {
  return page.evaluate(() => {
    const name = (element: Element) =>
      `${element.outerHTML.slice(0, 90)}… ${element.textContent?.slice(0, 30)}`;
    const wide = document.documentElement.scrollWidth - innerWidth;
    const beyond = [...document.querySelectorAll('body :not([data-sonner-toaster])')].filter((element) => {
      const { left, right, width, bottom } = element.getBoundingClientRect();
      if (width <= 1 || bottom < 0 || !element.checkVisibility() || element.closest('.sr-only')) return false;
      return right > innerWidth + 1 || left < -1;
    });
    const cut = [...document.querySelectorAll<HTMLElement>('main *, header *, footer *')].filter(
      (element) => {
        const { overflowX, textOverflow, display } = getComputedStyle(element);
        if (display === 'inline' || overflowX === 'visible' || textOverflow === 'ellipsis') return false;
        if (!element.checkVisibility() || element.closest('.sr-only')) return false;
        return element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1;
      },
    );
    return [...(wide > 0 ? [`${wide} px too wide`] : []), ...[...beyond, ...cut].map(name).slice(0, 5)];
  });
}

/** Returns the visible controls below `selector` that something covers after they are scrolled into view. */
export function unreachable(page: Page, selector: string) {
  return page.evaluate(async (selector) => {
    const found: string[] = [];
    const controls = document.querySelectorAll<HTMLElement>(
      `${selector} :is(a[href]:not([href="#main"]), button, select, textarea, summary, input:not([type=hidden], .sr-only))`,
    );
    for (const control of controls) {
      const style = getComputedStyle(control);
      if (!control.checkVisibility() || style.visibility === 'hidden' || control.tabIndex < 0) continue;
      control.scrollIntoView({ block: 'center', behavior: 'instant' });
      const lines = control.getClientRects(); // of a link in a text; the first may be behind the header
      const box = lines[Math.floor(lines.length / 2)];
      if (!box) continue;
      const { left, top, width, height } = box;
      const [x, y] = [left + width / 2, top + height / 2];
      const hit = document.elementFromPoint(x, y);
      const label = control.closest('label') ?? control;
      if (!hit || !(label.contains(hit) || hit.contains(control)))
        found.push(control.outerHTML.slice(0, 120));
    }
    scrollTo(0, 0);
    return found;
  }, selector);
}

/** The guides have one layout. Of the others only the narrowest window and the largest text are tried. */
const isOtherGuide = (path: string) => /learn\/(?!antibiotics|nothing|$)/.test(path);
const hardest = sizes.filter(({ width, text }) => width === 256 || (width === 360 && text === 32));

/** Expects that the loaded page fits narrow windows and text of twice the size. */
export async function expectReflow(page: Page, path: string) {
  for (const size of isOtherGuide(path) ? hardest : sizes) {
    await test.step(size.name, async () => {
      await resize(page, size);
      expect(await cutElements(page), size.name).toEqual([]);
      expect(await unreachable(page, 'body'), size.name).toEqual([]);
      const summary = page.locator('header summary');
      if (await summary.isVisible()) {
        await summary.click();
        await expect(page.locator('header details')).toHaveAttribute('open');
        expect(await cutElements(page), `${size.name}, menu`).toEqual([]);
        expect(await unreachable(page, 'header details'), `${size.name}, menu`).toEqual([]);
        await summary.click();
      }
    });
  }
}
