import { type Browser, test as base, expect } from '@playwright/test';
import { type Fault, faults, type HostileProxy, nameOf, startProxy } from './hostile/proxy';
import { type Visit, visitContent, visitCut, visitReport, visitResources } from './hostile/visits';
import { inBothLanguages } from './languages';
import { jpeg } from './photos';
import { everyCase as all, sample } from './sample';
import { uniqueName } from './stack';

/*
 * Each request of each kind of page fails, is answered with an error, hangs or is cut, one after the other. No page may
 * stay in a loading state or lose typed text. LONG=1 tests all requests with all faults in both languages (make
 * test-hostile). Otherwise every fifth request of some pages has one fault, in one language.
 */

const test = base.extend<object, { line: HostileProxy }>({
  line: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from this pattern
    async ({}, use) => {
      const proxy = await startProxy();
      await use(proxy);
      await proxy.close();
    },
    { scope: 'worker' },
  ],
});

const pages: readonly { path: string; visit: (visit: Visit) => Promise<void>; always?: true }[] = [
  { path: '/', visit: visitContent, always: true },
  { path: '/about/', visit: visitContent },
  { path: '/learn/', visit: visitContent },
  { path: '/learn/pain-management/', visit: visitContent, always: true },
  { path: '/women-health/', visit: visitContent },
  { path: '/contact/', visit: visitContent },
  { path: '/privacy/', visit: visitContent },
  { path: '/offline/', visit: visitContent },
  { path: '/nowhere/', visit: visitContent },
  { path: '/learn/nothing/', visit: visitContent },
  { path: '/report/thank-you/#sent', visit: visitContent, always: true },
  { path: '/report/thank-you/', visit: visitContent },
  { path: '/resources/', visit: visitResources, always: true },
  { path: '/report/', visit: visitReport },
];

interface Case {
  browser: Browser;
  baseURL: string | undefined;
  proxy: HostileProxy;
  spoken: (typeof inBothLanguages)[number];
  page: (typeof pages)[number];
  photo: Buffer;
}

/** Visits a page in a browser without a history. */
async function visitOnce({
  browser,
  baseURL,
  proxy,
  spoken: { words, to },
  page: { path, visit },
  photo,
}: Case) {
  const context = await browser.newContext({
    baseURL,
    proxy: { server: proxy.address },
    serviceWorkers: 'block',
  });
  try {
    await context.addInitScript(() => {
      // The page's clock has no part in the browser's own timer.
      AbortSignal.timeout = (milliseconds) => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(new DOMException('too late', 'TimeoutError')), milliseconds);
        return controller.signal;
      };
    });
    const page = await context.newPage();
    await page.clock.install();
    const alerts: string[] = [];
    page.on('dialog', (dialog) => {
      alerts.push(dialog.message());
      void dialog.accept();
    });
    const crashes: string[] = [];
    page.on('pageerror', (error) => crashes.push(String(error)));
    const product = uniqueName('Hostile cream');
    await visit({ page, proxy, words, path: to(path), to, alerts, product, photo } satisfies Visit);
    expect(crashes, 'uncaught errors').toEqual([]);
  } finally {
    proxy.heal();
    await context.close();
  }
}

/** Visits a page on a healthy line and returns the names of its requests, without the documents to which it links. */
async function requestsOf(one: Case) {
  one.proxy.forget();
  await visitOnce(one);
  const own = nameOf('GET', one.spoken.to(one.page.path));
  return one.proxy.seen().filter((name) => name === own || !/^GET .*\/$/.test(name));
}

/** Returns which faults a request has in this run: its own document cannot be shown if it does not arrive. */
function faultsFor(name: string, path: string, index: number): readonly Fault[] {
  const possible = name === nameOf('GET', path) ? (['is cut'] as const) : faults;
  if (all) return possible;
  return [possible[index % possible.length] ?? 'fails'];
}

for (const [at, page] of pages.entries()) {
  if (!all && !page.always) continue;
  for (const spoken of inBothLanguages.filter((_, index) => all || index === at % 2)) {
    const path = spoken.to(page.path);
    test(`${path} on a hostile network`, async ({ browser, line: proxy, baseURL }, testInfo) => {
      test.setTimeout(all ? 3_600_000 : 600_000);
      const blank = await browser.newPage({ baseURL });
      const photo = await jpeg(blank, 64, 48);
      await blank.close();
      const one = { browser, baseURL, proxy, spoken, page, photo };
      const requests = await requestsOf(one);
      const own = nameOf('GET', path);
      const stuck: string[] = [];
      let tried = 0;
      for (const [index, name] of sample([...requests.entries()], 5)) {
        for (const fault of faultsFor(name, path, index + at)) {
          const visit = fault === 'is cut' && name === own ? visitCut : page.visit;
          proxy.breakRequest(name, fault);
          tried++;
          await visitOnce({ ...one, page: { ...page, visit } }).catch((error: Error) => {
            stuck.push(`${name} ${fault}: ${error.message.split('\n')[0]}`);
          });
        }
      }
      expect(stuck).toEqual([]);
      testInfo.annotations.push({
        type: 'hostile',
        description: `${requests.length} requests, ${tried} faults`,
      });
    });
  }
}
