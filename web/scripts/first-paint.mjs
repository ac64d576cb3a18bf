/*
 * Measures the largest contentful paint of pages of a running stack on poor 3G (400 ms, 400 kbit/s, a processor six
 * times slower), on a phone's screen and with an empty cache: the median and the slowest of some visits, and the text
 * that was painted. A connection costs one more round trip, which the browser's emulation leaves out.
 *
 *   node scripts/first-paint.mjs http://127.0.0.1:54321 [/page/ …]    # VISITS=3
 */
import { readFile } from 'node:fs/promises';
import { chromium, devices } from '@playwright/test';

const [origin = 'http://127.0.0.1:54321', ...asked] = process.argv.slice(2);
const visits = Number(process.env.VISITS ?? 3);
const line = { offline: false, latency: 400, downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8 };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--no-first-run'],
});
try {
  await visit('/'); // warms the browser up
  console.log('| page | LCP, median | slowest | first paint | element |');
  console.log('|---|---|---|---|---|');
  for (const page of asked.length > 0 ? asked : await everyPage()) console.log(await row(page));
} finally {
  await browser.close();
}

/** Returns the paths of the sitemap. */
async function everyPage() {
  const sitemap = await readFile(new URL('../dist/sitemap.xml', import.meta.url), 'utf8');
  return [...sitemap.matchAll(/<loc>__SITE_URL__([^<]*)/g)].map(([, path]) => path);
}

/** Visits the page in a new context, and returns the last candidate for the largest paint. */
async function visit(path) {
  const context = await browser.newContext({ ...devices['Moto G4'], serviceWorkers: 'block' });
  try {
    const page = await context.newPage();
    await page.addInitScript(() => {
      globalThis.paints = [];
      new PerformanceObserver((list) => {
        for (const { startTime, element } of list.getEntries())
          paints.push({ startTime, tag: element?.tagName, text: element?.textContent?.slice(0, 40) });
      }).observe({ type: 'largest-contentful-paint', buffered: true });
    });
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', line);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await page.goto(origin + path, { waitUntil: 'load' });
    await page.waitForTimeout(/resources\/$/.test(path) ? 5000 : 800); // until the list has come
    return await page.evaluate(() => {
      const [first] = performance.getEntriesByName('first-contentful-paint');
      return { ...paints.at(-1), first: first.startTime };
    });
  } finally {
    await context.close();
  }
}

async function row(path) {
  const seen = [];
  while (seen.length < visits) seen.push(await visit(path));
  seen.sort((a, b) => a.startTime - b.startTime);
  const seconds = (value) => `${(value / 1000).toFixed(2)} s`;
  const middle = seen[Math.floor(visits / 2)];
  const cells = [path, seconds(middle.startTime), seconds(seen.at(-1).startTime), seconds(middle.first)];
  return `| ${[...cells, `${middle.tag}: ${middle.text}`].join(' | ')} |`;
}
