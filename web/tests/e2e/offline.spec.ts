import type { BrowserContext, Page } from '@playwright/test';
import { otherLanguage, pathIn } from '@/i18n/language';
import { expect, live, onSlowConnection, test } from './fixtures';
import { inBothLanguages, spokenIn } from './languages';
import { everyPage } from './pages';
import { reportForm, toastOf } from './report-form';
import { reportsNamed, uniqueName } from './stack';

test.use({ serviceWorkers: 'allow', allowConsole: /ERR_INTERNET_DISCONNECTED|ERR_FAILED/ });

/** Visits a page and waits until its service worker keeps everything. */
async function visit(page: Page, path: string) {
  await page.goto(path);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 50));
  });
}

/** Everything that the caches hold. */
async function keptUrls(page: Page) {
  return page.evaluate(async () => {
    const names = await caches.keys();
    const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return [...new Set(keys.flat().map(({ url }) => new URL(url).pathname))].sort();
  });
}

async function goOffline(context: BrowserContext) {
  await context.setOffline(true);
}

/** For tests that reload a page: before version 156, Chromium's emulation then loses navigator.onLine. */
async function stayOffline(context: BrowserContext) {
  await context.addInitScript(() => {
    Object.defineProperty(navigator, 'onLine', { get: () => false });
  });
  await goOffline(context);
}

for (const { language, words, to } of inBothLanguages) {
  test(`every page is available offline after one visit (${language})`, async ({ page, context }) => {
    await visit(page, to('/'));
    await goOffline(context);
    for (const { path } of everyPage.filter((each) => each.language === language)) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.locator('html')).toHaveAttribute('lang', language);
    }
  });

  test(`the form keeps its draft offline and sends it later (${language})`, async ({ page, context }) => {
    const text = words.report;
    const form = reportForm(page, text);
    const product = uniqueName('Offline cream');
    await visit(page, to('/report/'));
    await live(page);
    await form.fillRequired(product);
    await goOffline(context);
    await expect(page.getByText(text.offline)).toBeVisible();
    await form.submit.click();
    const toast = toastOf(page, words.layout.notifications);
    await expect(toast({ title: text.toasts.failed.title, description: text.offline })).toBeVisible();

    await page.reload();
    await live(page);
    await expect(form.product).toHaveValue(product);
    await context.setOffline(false);
    await form.submit.click();
    await expect(toast(words.receipt.toasts.success)).toBeVisible();
    expect(await reportsNamed(product)).toHaveLength(1);
    const kept = await keptUrls(page);
    expect(kept.filter((url) => /\/(functions|storage|auth)\/v1\//.test(url))).toEqual([]);
  });
}

for (const { language, words, to } of spokenIn('en')) {
  test(`an unused form from a slow connection works offline (${language})`, async ({ page, context }) => {
    await onSlowConnection(page);
    await visit(page, to('/report/'));
    await stayOffline(context);
    await page.reload();
    const form = reportForm(page, words.report);
    await form.product.fill('Kept cream');
    await live(page);
    await form.problem.click();
    await form.region.click();
    await page.getByRole('option', { name: 'Bari (Bari)' }).click();
    await expect(form.district).toBeVisible();
    await form.phone.fill('612345678');
    await form.problem.fill('It made the skin burn.');
    await form.submit.click();
    const toast = toastOf(page, words.layout.notifications);
    const { title } = words.report.toasts.failed;
    await expect(toast({ title, description: words.report.offline })).toBeVisible();
    await expect(form.product).toHaveValue('Kept cream');
  });

  test(`the list of resources is available offline (${language})`, async ({ page, context }) => {
    await visit(page, to('/resources/'));
    await live(page);
    const titles = page.getByRole('heading', { level: 3 });
    await titles.first().waitFor();
    const before = await titles.allTextContents();
    await stayOffline(context);
    await page.reload();
    await expect(page.getByText(words.resources.kept)).toBeVisible();
    await expect(titles).toHaveText(before);
  });

  test(`the form and the list work offline after a visit of the home page (${language})`, async ({
    page,
    context,
  }) => {
    await onSlowConnection(page);
    await visit(page, to('/'));
    await stayOffline(context);
    await page.goto(to('/resources/'));
    await expect(page.getByText(words.resources.toasts.loadFailed.description).first()).toBeVisible();
    await expect(page.getByText(words.resources.loading)).toBeHidden();
    await page.goto(to('/report/'));
    const form = reportForm(page, words.report);
    await form.product.fill('Kept cream');
    await live(page);
    await form.chooseRegion('Bari (Bari)');
    await form.submit.click();
    await expect(form.summary).toBeVisible();
    await expect(form.product).toHaveValue('Kept cream');
  });
}

/** Writes saveData into the service worker's code: a test cannot change the worker's navigator. */
async function saveData(context: BrowserContext) {
  await context.route('**/sw.js', async (route) => {
    const answer = await route.fetch();
    const body = `Object.defineProperty(navigator, 'connection', { value: { saveData: true } });${await answer.text()}`;
    await route.fulfill({ response: answer, body });
  });
}

/* The worker of the Somali pages also keeps the English home page. */
for (const { language, words, to } of spokenIn('so')) {
  const other = pathIn(otherLanguage(language), '/');

  test(`offline, the language switch and unknown addresses lead to a page of ours (${language})`, async ({
    page,
    context,
  }) => {
    await visit(page, to('/'));
    if (language === 'so')
      await expect.poll(() => page.evaluate(async () => (await caches.match('/')) !== undefined)).toBe(true);
    await stayOffline(context);
    await page.goto(to('/no/such/page/'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(words.offline.title);
    await page.goto(to('/about'));
    await expect(page.getByRole('heading', { level: 1, name: words.about.heading })).toBeVisible();
    await page.getByRole('banner').getByRole('link', { name: words.layout.switchLanguage }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', otherLanguage(language));
    await page.getByRole('banner').getByRole('link').first().click();
    await expect(page).toHaveURL(new RegExp(`${other}$`));
    await expect(page.getByRole('contentinfo')).toBeVisible();
  });

  test(`the caches do not tell what was read (${language})`, async ({ page, browser, baseURL }) => {
    await visit(page, to('/'));
    await page.waitForLoadState('networkidle');
    const other = await browser.newContext({ baseURL });
    const reader = await other.newPage();
    for (const path of ['/women-health/', '/learn/pregnancy-medicine/', '/report/', '/resources/'])
      await visit(reader, to(path));
    await reader.waitForLoadState('networkidle');
    if (language === 'so')
      // with the small worker of /
      for (const each of [page, reader])
        await expect.poll(async () => (await keptUrls(each)).includes('/')).toBe(true);
    expect(await keptUrls(reader)).toEqual(await keptUrls(page));
    await other.close();
  });
}

test('data saving keeps only the home pages and the offline pages', async ({ page, context }) => {
  await saveData(context);
  await visit(page, '/');
  await page.goto('/women-health/');
  await page.goto('/report/');
  expect(await keptUrls(page)).toEqual(['/', '/offline/', '/so/', '/so/offline/']);
  await goOffline(context);
  await page.goto('/privacy/');
  const [english] = inBothLanguages;
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(english?.words.offline.title ?? '');
});

test('a page works with full storage', async ({ page, context, baseURL }) => {
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: baseURL ?? '', quotaSize: 1 });
  await page.goto('/report/');
  await live(page);
  await page.goto('/resources/');
  await page.getByRole('listitem').getByRole('button').first().waitFor();
});
