import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Returns what axe finds on a page, with all of its rules for WCAG 2.2 AA and good practice. */
export async function violations(page: Page, prepare = (axe: AxeBuilder) => axe) {
  const everything = new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .setLegacyMode(); // every frame is of this origin, so axe needs no page of its own; this halves the time
  await settled(page);
  const { violations } = await prepare(everything).analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}

/** Waits until animations have ended: until then colours differ. */
function settled(page: Page) {
  return page.evaluate(async () => {
    const passing = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(passing.map(({ finished }) => finished));
  });
}
