import type { Page } from '@playwright/test';
import axe, { type RunOptions } from 'axe-core';

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** All rules for WCAG 2.2 AA and good practice. */
const everyRule: RunOptions = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] };

/** The rule whose result depends on the colour scheme. */
export const colours: RunOptions = { runOnly: ['color-contrast'] };

/**
 * Returns what axe finds below the selector `within`, or on the whole page. Every frame is of this origin, so axe
 * reaches it from the page. Details of passed rules are left out, because they take most of the time.
 */
export async function violations(page: Page, options = everyRule, within = ':root'): Promise<string[]> {
  await settled(page);
  for (const frame of page.frames())
    if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(axe.source);
  return page.evaluate(
    async ({ options, within }) => {
      const { violations } = await window.axe.run(within, { ...options, resultTypes: ['violations'] });
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
      );
    },
    { options, within },
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
