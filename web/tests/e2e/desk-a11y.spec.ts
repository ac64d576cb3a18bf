import { readdirSync, statSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { en, type Text } from '../../desk/src/i18n/en';
import { so } from '../../desk/src/i18n/so';
import { violations } from './axe';
import { addReports, deskURL, enterDesk, makeMember, password } from './desk';
import { sample } from './sample';
import { uniqueName } from './stack';

const screens = [
  'reports',
  'clusters',
  'guides',
  'guides/pain-management',
  'resources',
  'resources/new',
  'figures',
  'staff',
  'trail',
  'system',
  'account',
];

/** Checks what opens above the screens, and the states without data. */
async function checkDialogs(page: Page, text: Text, report: string) {
  const check = (name: string) => checkPage(page, name);
  const dialog = page.getByRole('dialog');
  await page.goto(report);
  await page.getByRole('button', { name: text.report.remove, exact: true }).click();
  await expect(dialog).toBeVisible();
  await check('delete');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: text.report.compare }).first().click();
  await expect(dialog.getByRole('table')).toBeVisible();
  await check('compare');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press('?');
  await check('keys');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: text.inbox.filters }).click();
  await page.getByRole('searchbox').fill('no such words');
  await page.getByRole('searchbox').press('Enter');
  await expect(page.getByText(text.inbox.empty)).toBeVisible();
  await check('filters and no report');
  await page.goto(`${deskURL()}/#/reports/DW-0000-0000`);
  await expect(page.getByText(text.report.missing)).toBeVisible();
  await check('a report that is deleted');
  await page.goto(`${deskURL()}/#/account`);
  await page.getByRole('button', { name: text.account.addApp }).click();
  await expect(dialog.locator('code')).toBeVisible();
  await check('second step');
}

const values = { issue_description: 'x', phone: '1', phone_e164: '+252612345678' };

/** Fails if axe finds anything on the page as it is now. */
const checkPage = async (page: Page, name: string) => expect(await violations(page), name).toEqual([]);

for (const [at, language] of (['en', 'so'] as const).entries()) {
  const text: Text = language === 'en' ? en : so;
  for (const colorScheme of sample(at ? (['dark', 'light'] as const) : (['light', 'dark'] as const), 2)) {
    test.describe(`axe: ${language}, ${colorScheme}`, () => {
      test.use({ colorScheme });
      test.beforeEach(async ({ page }) => {
        test.setTimeout(240_000);
        await page.addInitScript((chosen) => localStorage.setItem('desk-language', chosen), language);
      });

      test('every screen', async ({ page }) => {
        const [report] = await addReports([{ ...values, product_name: uniqueName('axe') }]);
        await page.goto((await makeMember('owner')).link);
        await page.getByRole('button', { name: text.signIn.later }).click();
        await expect(page.getByRole('navigation')).toBeVisible();
        for (const screen of [
          ...screens,
          `reports/${report?.reference}`,
          `reports/${report?.reference}/forward`,
        ]) {
          await page.goto(`${deskURL()}/#/${screen}`);
          await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
          await expect(page.getByText(text.loading)).toHaveCount(0);
          await checkPage(page, screen);
        }
      });

      test('entry, dialogs and empty states', async ({ page }) => {
        const product = uniqueName('axe');
        const [report] = await addReports([
          { ...values, product_name: product },
          { ...values, product_name: product },
        ]);
        await checkEntry(page, text);
        await checkDialogs(page, text, `${deskURL()}/#/reports/${report?.reference}`);
      });
    });
  }
}

/** Checks the screens before the desk, and enters it. */
async function checkEntry(page: Page, text: Text) {
  await page.goto(deskURL());
  await expect(page.getByRole('button', { name: text.signIn.submit })).toBeVisible();
  await checkPage(page, 'sign-in');
  await page.getByRole('button', { name: text.signIn.link }).click();
  await checkPage(page, 'mail me a link');
  await page.goto((await makeMember('owner')).link);
  await expect(page.getByRole('heading', { name: text.signIn.passwordTitle })).toBeVisible();
  await page.getByLabel(text.signIn.newPassword).fill('short');
  await page.getByRole('button', { name: text.save }).click();
  await expect(page.getByText(text.signIn.passwordShort)).toBeVisible();
  await checkPage(page, 'welcome, with an error');
  await page.getByRole('button', { name: text.signIn.later }).click();
  await expect(page.getByRole('navigation')).toBeVisible();
}

test('no screen of the desk scrolls sideways at 320 px', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 700 });
  const [report] = await addReports([
    { product_name: 'x'.repeat(200), issue_description: 'y'.repeat(500), name: 'z'.repeat(200) },
  ]);
  await enterDesk(page, 'owner');
  for (const screen of [...screens, `reports/${report?.reference}`, `reports/${report?.reference}/forward`]) {
    await page.goto(`${deskURL()}/#/${screen}`);
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(wide, screen).toBeLessThanOrEqual(seen ?? 0);
  }
});

/** Bytes of the first load, compressed: everything until the inbox stands, and each later screen. */
const budget = 185_000;
const laterBudget = 8_000;
/** Bytes of the whole desk, compressed, without the PDF reader, which only an upload of a PDF loads. */
const wholeBudget = 220_000;
const readerBudget = 400_000;

test('the desk keeps to its budgets', async ({ page }) => {
  const { link } = await makeMember('owner');
  let sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/assets/'))
      sizes.push(response.allHeaders().then((headers) => Number(headers['content-length'] ?? 0)));
  });
  const sum = async () => (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
  await page.goto(link);
  await page.getByRole('button', { name: 'Not now' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  const bytes = await sum();
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(budget);
  const places = new Set<string>();
  for (const name of ['Clusters', 'Guides', 'Resources', 'Figures', 'Staff', 'Trail', 'System', 'Account']) {
    sizes = [];
    await page.getByRole('link', { name }).click();
    const title = page.getByRole('heading', { level: 1, name });
    await expect(title).toBeVisible();
    const { x, y } = (await title.boundingBox()) ?? {};
    places.add(`${x} ${y}`);
    expect(await sum(), name).toBeLessThanOrEqual(laterBudget);
  }
  expect([...places], 'the title of each screen has one place').toHaveLength(1);
});

test('the whole desk keeps to its budget', () => {
  const dist = new URL('../../desk/dist/', import.meta.url).pathname;
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.br'),
  );
  const isReader = (name: string) => /\/pdf[.-]/.test(name);
  const weight = (names: string[]) => names.reduce((sum, name) => sum + statSync(dist + name).size, 0);
  const bytes = weight(files.filter((name) => !isReader(name)));
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThanOrEqual(wholeBudget);
  const reader = weight(files.filter(isReader));
  expect(reader).toBeGreaterThan(100_000);
  expect(reader).toBeLessThanOrEqual(readerBudget);
});

test('after sign-in the inbox needs five requests and 25 kB', async ({ page }) => {
  await addReports(
    Array.from({ length: 60 }, (_, i) => ({
      product_name: `Paracetamol 500 mg, ${i}`,
      issue_description: 'x',
    })),
  );
  const { email } = await enterDesk(page, 'reviewer');
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  const paths = new Map<string, string>();
  const sizes: Record<string, number> = {};
  network.on('Network.requestWillBeSent', (e) => paths.set(e.requestId, new URL(e.request.url).pathname));
  network.on('Network.loadingFinished', (e) => {
    const path = paths.get(e.requestId); // none for a request from before the sign-in
    if (path !== undefined) sizes[path] = e.encodedDataLength;
  });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('option').first()).toBeVisible();
  await expect(page.getByRole('button', { name: /^All \d/ })).toBeVisible();
  expect(Object.keys(sizes).sort()).toEqual([
    '/auth/v1/token',
    '/rest/v1/rpc/count_reports',
    '/rest/v1/rpc/list_reports',
    '/rest/v1/rpc/my_staff_access',
    '/rest/v1/rpc/staff_members',
  ]);
  expect(Object.values(sizes).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(25_000);
  // The reply comes in three steps: the token, the role, and the rest at once.
});
