import { test as base, expect, type Page, type Route } from '@playwright/test';

interface Watched {
  /** Console messages that a test causes on purpose. */
  allowConsole: RegExp | undefined;
  /** The other origin that a test opens on purpose. */
  allowOrigin: string | undefined;
}

/**
 * The site's and the browser's messages about a missing page, Playwright's about blocked service workers, and that of
 * Chromium 111 about a feature that it does not know.
 */
const always = [
  /^404: no page at /,
  /status of 404/,
  /^Service Worker registration blocked/,
  /^Error with Permissions-Policy header: Origin trial/,
];

/**
 * Fails a test on an error or warning in the console, where React reports hydration mismatches and the browser reports
 * violations of the content security policy, and on a request to another origin.
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

/** Simulates a slow connection: the application is loaded at the first use of a control that needs it. */
export async function onSlowConnection(page: Page) {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'connection', { value: { effectiveType: '3g', saveData: false } });
  });
}

/** Waits until the page is hydrated. */
export async function live(page: Page) {
  await page.locator('html[data-live]').waitFor({ state: 'attached' });
}

/** Waits until the page is hydrated, if it has a control that needs that. */
export async function loaded(page: Page) {
  if ((await page.locator('main [data-live]').count()) > 0) await live(page);
}

/** Holds requests to an address back. The returned function releases them to `onward`, by default to the server. */
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
