import type { Page } from '@playwright/test';
import { otherLanguage, pathIn } from '@/i18n/language';
import { expect, live, test } from './fixtures';
import { inBothLanguages } from './languages';
import { everyPage } from './pages';

/*
 * The weight of a page: the transferred bytes of all bodies, in brotli. The gateway compresses at its best level in the
 * background after its start, so a weight over the limit is measured again. Pictures of files are lazy and counted apart.
 */
const kilobyte = 1000;

async function cost(page: Page, path: string, settled: () => Promise<unknown>) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.clearBrowserCache'); // it stays on: a part is fetched into it and then imported
  const requests = new Set<string>();
  const pictures = new Map<string, number>();
  let bytes = 0;
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('http')) requests.add(requestId);
  });
  // responseReceived has the bytes of the headers, loadingFinished those of the whole reply.
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.url.includes('/storage/')) pictures.set(requestId, -response.encodedDataLength);
    else bytes -= response.encodedDataLength;
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const headers = pictures.get(requestId);
    if (headers === undefined) bytes += encodedDataLength;
    else pictures.set(requestId, headers + encodedDataLength);
  });
  await page.goto(path, { waitUntil: 'load' });
  await settled();
  await session.detach();
  return { requests: requests.size, bytes, pictures: [...pictures.values()] };
}

test.describe('without the application', () => {
  test.beforeEach(({ page }) =>
    page.addInitScript(() => {
      Object.defineProperty(navigator, 'connection', { value: { effectiveType: '4g', saveData: false } });
    }),
  );
  for (const { language } of inBothLanguages) {
    test(`each content page is one request of at most 10 kB, a guide of 25 kB (${language})`, async ({
      page,
    }) => {
      test.slow(); // twelve pages, each with time for further requests
      const pages = everyPage.filter((each) => each.language === language);
      for (const { path } of pages.filter(({ path }) => !/(report|resources)\/$/.test(path))) {
        await expect(async () => {
          const { requests, bytes } = await cost(page, path, () => page.waitForTimeout(300));
          expect(requests, path).toBe(1);
          expect(bytes, path).toBeGreaterThan(3 * kilobyte);
          expect(bytes, path).toBeLessThanOrEqual((/learn\/.+/.test(path) ? 25 : 10) * kilobyte);
        }).toPass();
      }
    });
  }
});

for (const { language, to } of inBothLanguages) {
  for (const [path, limit] of [
    ['/report/', 99],
    ['/resources/', 116],
  ] as const) {
    test(`${to(path)} costs at most ${limit} kB with the application`, async ({ page }) => {
      await expect(async () => {
        const { bytes, pictures } = await cost(page, to(path), async () => {
          await live(page);
          await page.waitForLoadState('networkidle');
        });
        expect(bytes).toBeGreaterThan(80 * kilobyte);
        expect(bytes).toBeLessThanOrEqual(limit * kilobyte);
        for (const picture of pictures) expect(picture).toBeLessThanOrEqual(12 * kilobyte);
        expect(pictures.length > 0).toBe(path === '/resources/');
      }).toPass();
    });
  }

  test(`offline, the pages of ${to('/')} cost at most 140 kB and everything 298 kB`, async ({ request }) => {
    const worker = await (await request.get(to('/sw.js'))).text();
    const list = /\[\{"revision".*?\}\]/.exec(worker)?.[0] ?? '[]';
    const kept = (JSON.parse(list) as { url: string }[]).map(({ url }) => url);
    const pages = kept.filter((url) => url.endsWith('/'));
    const files = kept.filter((url) => !url.endsWith('/'));
    const other = pathIn(otherLanguage(language), '/');
    expect(pages.sort()).toEqual(
      everyPage
        .map(({ path }) => path)
        .filter((path) => path.startsWith('/so/') === to('/').startsWith('/so/'))
        .concat(to('/offline/'), other, pathIn(otherLanguage(language), '/offline/'))
        .sort(),
    );
    const weight = async (urls: string[]) => {
      let bytes = 0;
      for (const url of urls) {
        const answer = await request.get(url, { headers: { 'accept-encoding': 'br' } });
        bytes += Number(answer.headers()['content-length']);
      }
      return bytes;
    };
    await expect(async () => {
      const own = pages.filter((url) => url !== other && !url.endsWith('/offline/'));
      expect(await weight(own)).toBeLessThanOrEqual(140 * kilobyte);
      const all = await weight([...pages, ...files]);
      expect(all).toBeGreaterThan(200 * kilobyte);
      expect(all).toBeLessThanOrEqual(298 * kilobyte);
    }).toPass();
  });
}
