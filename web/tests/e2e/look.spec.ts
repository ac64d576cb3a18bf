import type { Page } from '@playwright/test';
import { expect, loaded, test } from './fixtures';
import { slugs } from './guides';
import { inBothLanguages } from './languages';
import { everyDocument } from './pages';

/** Phones, a tablet and a computer. The heights do not matter. */
const widths = [320, 360, 412, 768, 1280];

/** Returns the elements whose text is broken over several lines. */
function broken(page: Page, selector: string) {
  return page.locator(selector).evaluateAll((elements) =>
    elements
      .filter((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        const tops = [...range.getClientRects()]
          .filter(({ height }) => height > 0)
          .map(({ bottom }) => bottom);
        return Math.max(...tops) - Math.min(...tops) > parseFloat(getComputedStyle(element).fontSize);
      })
      .map((element) => element.textContent),
  );
}

for (const { language, words, to } of inBothLanguages) {
  test(`figures, severities and categories in ${language} stay on one line`, async ({ page }) => {
    const parts = [
      ['/women-health/', 'dd[class*=font-serif], [data-slot=badge]'],
      ['/learn/', '[data-slot=badge]'],
      ['/about/', 'dd'],
    ] as const;
    for (const [path, selector] of parts) {
      await page.goto(to(path));
      expect(await page.locator(selector).count()).toBeGreaterThan(2);
      for (const width of widths.filter((each) => each >= 360)) {
        await page.setViewportSize({ width, height: 800 });
        expect(await broken(page, selector), `${path} at ${width} px`).toEqual([]);
      }
    }
  });

  test(`in the figures of ${language} no text runs into another or out of its picture`, async ({ page }) => {
    for (const slug of slugs) {
      await page.goto(to(`/learn/${slug}/`));
      const collisions = await page.locator('figure svg').evaluateAll((pictures) =>
        pictures
          .flatMap((picture) => {
            const frame = picture.getBoundingClientRect();
            const texts = [...picture.querySelectorAll('text')];
            const boxes = texts.map((each) => each.getBoundingClientRect());
            return texts.filter((_, at) => {
              const box = boxes[at] ?? frame;
              const others = boxes.filter((_, other) => other !== at);
              return (
                box.left < frame.left ||
                box.right > frame.right ||
                others.some(
                  (o) => o.left < box.right && box.left < o.right && o.top < box.bottom && box.top < o.bottom,
                )
              );
            });
          })
          .map(({ textContent }) => textContent),
      );
      expect(collisions, slug).toEqual([]);
    }
  });

  test(`buttons below each other in ${language} have one width`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const [path, group] of [
      ['/', 'h1 ~ div > *'],
      ['/women-health/', 'p ~ div > a.border'],
      ['/learn/antibiotics-guide/', 'article + div > *'],
      ['/privacy/', 'main a.min-h-11:has(svg)'],
    ] as const) {
      await page.goto(to(path));
      const widths = await page
        .locator(`main ${group.replace(/^main /, '')}`)
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
      expect(widths.length, path).toBeGreaterThan(1);
      expect(new Set(widths).size, `${path}: ${widths}`).toBe(1);
    }
  });

  test(`a full stop in ${language} stays with the phone number before it`, async ({ page }) => {
    await page.goto(to('/learn/antibiotics-guide/'));
    for (let width = 320; width <= 420; width += 4) {
      await page.setViewportSize({ width, height: 800 });
      const apart = await page.locator('[data-slot=danger] a[href^="tel:"]').evaluateAll((links) =>
        links
          .filter((link) => {
            const stop = link.nextSibling ?? link.parentElement?.nextSibling;
            if (!stop?.textContent?.startsWith('.')) return false;
            const range = document.createRange();
            range.setStart(stop, 0);
            range.setEnd(stop, 1);
            return range.getBoundingClientRect().top >= link.getBoundingClientRect().bottom;
          })
          .map((link) => link.textContent),
      );
      expect(apart, `${width} px`).toEqual([]);
    }
  });

  test(`the columns of the footer in ${language} begin at one height, and their rows too`, async ({
    page,
  }) => {
    await page.goto(to('/privacy/'));
    const footer = page.getByRole('contentinfo');
    const tops = (selector: string) =>
      footer.locator(selector).evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    for (const width of [768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const [pages, support] = await tops('h2');
      expect(pages).toBeCloseTo(support ?? 0, 0);
    }
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const rows = await tops('nav li');
      expect(rows).toHaveLength(8);
      for (let at = 0; at < 8; at += 2) expect(rows[at], `${width} px`).toBeCloseTo(rows[at + 1] ?? 0, 0);
    }
  });

  test(`both lists of the report in ${language} have one arrow, and the flag is visible`, async ({
    page,
  }) => {
    await page.goto(to('/report/'));
    await loaded(page);
    const country = page.getByRole('combobox', { name: words.report.country });
    const region = page.getByRole('combobox', { name: words.report.region });
    expect(await country.evaluate((select) => getComputedStyle(select).appearance)).toBe('none');
    const arrow = country.locator('xpath=following-sibling::*[name()="svg"]');
    expect(await arrow.innerHTML()).toBe(await region.locator('svg').innerHTML());
    const flag = page.locator('form img[src^="/flags/"]');
    await flag.scrollIntoViewIfNeeded();
    const onTop = await flag.evaluate((image) => {
      image.style.pointerEvents = 'auto';
      const { left, top, width, height } = image.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) === image;
    });
    expect(onTop, 'nothing covers the flag').toBe(true);
  });

  test(`beside a long guide in ${language} the right column is never left behind`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(to('/learn/pregnancy-medicine/'));
    const aside = page.getByRole('complementary');
    const guide = page.locator('[data-slot=guide]');
    const heights = await Promise.all(
      [aside, guide].map(async (each) => (await each.boundingBox())?.height ?? 0),
    );
    expect(heights[0], 'the column is shorter').toBeLessThan((heights[1] ?? 0) - 400);
    for (const before of [50, 300]) {
      await guide.evaluate(
        (each, pixels) => scrollBy(0, each.getBoundingClientRect().bottom - 800 - pixels),
        before,
      );
      await expect
        .poll(async () => {
          const box = await aside.boundingBox();
          return Math.round((box?.y ?? 0) + (box?.height ?? 0));
        })
        .toBe(768); // its end stands above the edge of the window
    }
  });

  test(`the sources in ${language} stand in even lines, linked or not`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(to('/learn/pregnancy-medicine/'));
    const items = page.locator('[data-slot=sources] li');
    expect(await items.count()).toBeGreaterThan(10);
    // A link that is a block is higher, and the mark of its item stands at its last line.
    const uneven = await items.evaluateAll((all) =>
      all
        .filter((item) => {
          const lines = item.getBoundingClientRect().height / parseFloat(getComputedStyle(item).lineHeight);
          return Math.abs(lines - Math.round(lines)) > 0.1;
        })
        .map((item) => item.textContent),
    );
    expect(uneven).toEqual([]);
  });
}

test('the footer keeps one distance from every page', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 600 });
  for (const { path } of everyDocument) {
    await page.goto(path);
    await loaded(page);
    const gap = await page.evaluate(() => {
      const seen = (element: Element) => {
        const { backgroundColor, borderBottomWidth } = getComputedStyle(element);
        return (
          element.children.length === 0 || !/, 0\)$/.test(backgroundColor) || borderBottomWidth !== '0px'
        );
      };
      const bottoms = [...document.querySelectorAll('main *')]
        .filter((each) => each.checkVisibility() && !each.closest('.sr-only, form') && seen(each))
        .map((each) => each.getBoundingClientRect().bottom);
      return (document.querySelector('footer')?.getBoundingClientRect().top ?? 0) - Math.max(...bottoms);
    });
    expect(Math.round(gap), path).toBe(40);
  }
});
