import { expect, test } from '@playwright/test';
import { addReports, enterDesk } from './desk';
import { type Stack, startStack } from './own-stack';

const total = 20_000;

let stack: Stack;
const before = { ...process.env };

// A stack of its own, so that the reports are in no other test's way.
test.beforeAll(async () => {
  stack = await startStack(() => ({ LOG_LEVEL: 'error' }));
  Object.assign(process.env, stack.settings);
  const now = Date.now();
  for (let from = 0; from < total; from += 5000) {
    await addReports(
      Array.from({ length: 5000 }, (_, i) => ({
        product_name: `Product ${from + i + 1}`,
        issue_description: 'x',
        created_at: new Date(now - (from + i) * 60_000).toISOString(),
      })),
    );
  }
});

test.afterAll(async () => {
  Object.assign(process.env, before);
  await stack?.stop();
});

test('20,000 reports are walked through by keyboard while the page draws the rows in view alone', async ({
  page,
}) => {
  test.setTimeout(240_000);
  let opened = 0;
  page.on('request', (r) => r.url().endsWith('/rpc/read_report') && opened++);
  await enterDesk(page, 'reviewer');
  await expect(page.getByText('20,000 reports', { exact: true })).toBeVisible();
  const list = page.getByRole('listbox');
  const chosen = list.getByRole('option', { selected: true });
  const drawn = () => list.getByRole('option').count();
  await list.focus();
  await page.keyboard.press('ArrowDown');
  await expect(chosen).toContainText('Product 1');
  await page.keyboard.press('PageDown');
  await expect(chosen).toBeInViewport();
  await page.keyboard.press('Home');
  await page.keyboard.down('j');
  for (let i = 0; i < 9; i++) await page.keyboard.down('j'); // held: each repeat is one report
  await page.keyboard.up('j');
  await expect(chosen).toHaveAttribute('aria-posinset', '11');

  // End goes to the last report that is loaded, and loads more, up to the oldest of all.
  let most = await drawn();
  const before = opened;
  await expect(async () => {
    await page.keyboard.press('End');
    most = Math.max(most, await drawn());
    await expect(chosen).toHaveAttribute('aria-posinset', String(total), { timeout: 1 });
  }).toPass({ intervals: [0], timeout: 200_000 });
  await expect(chosen).toBeInViewport();
  await expect(chosen).toContainText(`Product ${total}`);
  await expect(page.getByRole('heading', { level: 1, name: `Product ${total}` })).toBeVisible();
  await page.keyboard.press('ArrowUp');
  await expect(chosen).toContainText(`Product ${total - 1}`);
  await page.keyboard.press('Home');
  await expect(chosen).toContainText('Product 1');
  await expect(chosen).toBeInViewport();
  expect(Math.max(most, await drawn()), 'rows in the page').toBeLessThan(60);
  expect(opened - before, 'reports that were opened on the way').toBeLessThan(total / 100);
});
