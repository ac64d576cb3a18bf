import { test as base, expect, type Page, type Route } from '@playwright/test';

interface Watched {
  /** What a test provokes on purpose: a console message that matches is no failure. */
  allowConsole: RegExp | undefined;
  /** The origin that a test leaves for on purpose. */
  allowOrigin: string | undefined;
}

/** The log of a missing page, the browser's own line about its status, and the runner's about workers (see the config). */
const always = [/^404: no page at /, /status of 404/, /^Service Worker registration blocked/];

/**
 * Every test fails on an error or warning in the console (which is where React reports a hydration that does
 * not match, and the browser a breach of the content security policy) and on a request to another origin.
 */
export const test = base.extend<Watched & { watch: undefined }>({
  allowConsole: [undefined, { option: true }],
  allowOrigin: [undefined, { option: true }],
  watch: [
    async ({ context, baseURL, allowConsole, allowOrigin }, use) => {
      const seen: string[] = [];
      const allowed = allowConsole ? [...always, allowConsole] : always;
      context.on('console', (message) => {
        if (!['error', 'warning'].includes(message.type())) return;
        if (!allowed.some((pattern) => pattern.test(message.text()))) seen.push(message.text());
      });
      context.on('weberror', (error) => seen.push(String(error.error())));
      context.on('request', (request) => {
        const { href, protocol, origin } = new URL(request.url());
        if (!protocol.startsWith('http') || origin === allowOrigin) return;
        if (origin !== new URL(baseURL ?? '').origin) seen.push(`a request to ${href}`);
      });
      await use(undefined);
      expect(seen, 'errors, warnings and foreign requests').toEqual([]);
    },
    { auto: true },
  ],
});

/** As on a slow line: the application is loaded at the first touch of something that needs it. */
export async function onSlowLine(page: Page) {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'connection', { value: { effectiveType: '3g', saveData: false } });
  });
}

/** Waits until the application has taken the prerendered page over. */
export async function live(page: Page) {
  await page.locator('html[data-live]').waitFor({ state: 'attached' });
}

/** Holds the requests to an address back until the function that it returns is called; then they go on, or where `onward` sends them. */
export async function hold(
  page: Page,
  url: string,
  onward = (route: Route): Promise<unknown> => route.continue(),
) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    await released;
    await onward(route);
  });
  return () => release();
}

export { expect };
