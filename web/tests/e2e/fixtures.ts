import { test as base, expect, type Page } from '@playwright/test';

interface Watched {
  /** What a test provokes on purpose: console messages that match are no failure. */
  allowConsole: RegExp[];
  /** Addresses elsewhere that a test goes to on purpose. */
  allowRequests: RegExp[];
}

/** The log of a missing page, and the browser's own line about its status. */
const always = [/^404: no page at /, /status of 404/];

/**
 * Every test fails on an error or warning in the console (which is where React reports a hydration that does
 * not match, and the browser a breach of the content security policy) and on a request to another origin.
 */
export const test = base.extend<Watched & { watch: undefined }>({
  allowConsole: [[], { option: true }],
  allowRequests: [[], { option: true }],
  watch: [
    async ({ context, baseURL, allowConsole, allowRequests }, use) => {
      const seen: string[] = [];
      const allowed = [...always, ...allowConsole];
      context.on('console', (message) => {
        if (!['error', 'warning'].includes(message.type())) return;
        if (!allowed.some((pattern) => pattern.test(message.text()))) seen.push(message.text());
      });
      context.on('weberror', (error) => seen.push(String(error.error())));
      context.on('request', (request) => {
        const { href, protocol, origin } = new URL(request.url());
        const foreign = protocol.startsWith('http') && origin !== new URL(baseURL ?? '').origin;
        if (foreign && !allowRequests.some((pattern) => pattern.test(href)))
          seen.push(`a request to ${href}`);
      });
      await use(undefined);
      expect(seen, 'errors, warnings and foreign requests').toEqual([]);
    },
    { auto: true },
  ],
});

/** Waits until the application has taken the prerendered page over. */
export async function live(page: Page) {
  await page.locator('html[data-live]').waitFor({ state: 'attached' });
}

export { expect };
