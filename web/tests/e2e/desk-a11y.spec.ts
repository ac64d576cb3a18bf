import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { addReports, deskURL, enterDesk, makeMember, password } from './desk';
import { uniqueName } from './stack';

const screens = ['reports', 'resources', 'resources/new', 'figures', 'staff', 'trail', 'system', 'account'];

for (const language of ['en', 'so'] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`every screen of the desk has no axe violation: ${language}, ${colorScheme}`, async ({ page }) => {
      test.setTimeout(180_000);
      await page.emulateMedia({ colorScheme });
      const [report] = await addReports([
        { product_name: uniqueName('axe'), issue_description: 'x', phone: '1', phone_e164: '+252612345678' },
      ]);
      await page.goto(deskURL());
      const check = async (name: string) => {
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(
          violations.map((v) => `${v.id}: ${v.nodes[0]?.html}`),
          name,
        ).toEqual([]);
      };
      await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
      await check('sign-in');
      await enterDesk(page, 'owner');
      if (language === 'so') await page.getByRole('button', { name: 'Soomaali' }).click();
      for (const screen of [
        ...screens,
        `reports/${report?.reference}`,
        `reports/${report?.reference}/forward`,
      ]) {
        await page.goto(`${deskURL()}/#/${screen}`);
        await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
        await expect(page.getByText(/^(Loading…|Waa la soo rarayaa…)$/)).toHaveCount(0);
        await check(screen);
      }
    });
  }
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

test('the desk keeps to its budgets', async ({ page }) => {
  const { link } = await makeMember('owner');
  let bytes = 0;
  page.on('response', async (response) => {
    if (response.url().includes('/assets/'))
      bytes += Number((await response.allHeaders())['content-length'] ?? 0);
  });
  await page.goto(link);
  await page.getByRole('button', { name: 'Not now' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(budget);
  for (const name of ['Resources', 'Figures', 'Staff', 'Trail', 'System', 'Account']) {
    bytes = 0;
    await page.getByRole('link', { name }).click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    expect(bytes, name).toBeLessThanOrEqual(laterBudget);
  }
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
    sizes[paths.get(e.requestId) ?? ''] = e.encodedDataLength;
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

test('the list of 20,000 reports draws the rows in view alone', async ({ page }) => {
  await addReports(
    Array.from({ length: 300 }, (_, i) => ({ product_name: `row ${i}`, issue_description: 'x' })),
  );
  await enterDesk(page, 'reviewer');
  await expect(page.getByRole('option').first()).toBeVisible();
  const list = page.getByRole('listbox');
  for (let i = 0; i < 5; i++) await list.evaluate((e) => e.scrollTo(0, e.scrollHeight));
  await expect(async () => {
    expect(Number(await page.getByRole('option').last().getAttribute('aria-posinset'))).toBeGreaterThan(150);
  }).toPass();
  expect(await page.getByRole('option').count()).toBeLessThan(60);
});
