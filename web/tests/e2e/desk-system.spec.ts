import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { deskURL, enterDesk } from './desk';
import { type Stack, startStack } from './own-stack';

test.describe.configure({ mode: 'serial' });

let stack: Stack;
let receiver: Server;
let receiving = false;
let received = 0;
const before = { ...process.env };

// A stack with a place for backups, whose notices also go to a receiver that is out of order at first.
test.beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume();
    if (receiving) received++;
    response.writeHead(receiving ? 200 : 500).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  stack = await startStack((folder) => {
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    chmodSync(backups, 0o777);
    return { BACKUP_TO: backups, NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${port}/`, LOG_LEVEL: 'error' };
  });
  Object.assign(process.env, stack.settings);
});

test.afterAll(async () => {
  Object.assign(process.env, before);
  receiver.close();
  await stack?.stop();
});

const panel = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name: title, exact: true }) });

async function openSystem(page: Page) {
  await page.getByRole('link', { name: 'System' }).click();
  await expect(panel(page, 'Checks').getByText('database', { exact: true })).toBeVisible();
}

test('an owner makes and verifies a backup, and hears of a damaged one', async ({ page }) => {
  test.setTimeout(400_000);
  await enterDesk(page, 'owner');
  await openSystem(page);
  const backups = panel(page, 'Backups'); // the program makes the first one by itself, soon after its start
  await backups.getByRole('button', { name: 'Make a backup now' }).click();
  await expect(page.getByText(/^The backup is complete: \d/)).toBeVisible({ timeout: 300_000 }); // it is restored first
  await expect(backups.getByRole('listitem').first()).toContainText(/\d+ (min|h) ago\) · [\d.]+ MB/);
  await backups.getByRole('button', { name: 'Verify all' }).click();
  await expect(page.getByText(/^Every checksum is right: [12] backups?, \d+ files/)).toBeVisible();

  const folder = join(stack.folder, 'backups');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((f) => f.isFile());
  const base = files.find((f) => /base/.test(join(f.parentPath, f.name)) && !/json$/.test(f.name));
  if (!base) throw new Error(`no file of a backup in ${files.map((f) => f.name)}`);
  writeFileSync(join(base.parentPath, base.name), 'damaged');
  await backups.getByRole('button', { name: 'Verify all' }).click();
  await expect(page.getByText(/^That did not work: .*/)).toBeVisible();
});

test('an owner runs a failed job again and sends a test mail, and the trail has all of it', async ({
  page,
}) => {
  const reply = await page.request.post(`${process.env.API_URL}/functions/v1/submit-report`, {
    headers: { apikey: process.env.PUBLISHABLE_KEY ?? '', 'Idempotency-Key': crypto.randomUUID() },
    data: { product_name: 'cream', issue_description: 'a rash' },
  });
  expect(reply.status(), await reply.text()).toBe(200);
  const { email } = await enterDesk(page, 'owner');
  await openSystem(page);
  const jobs = panel(page, 'Failed jobs');
  await expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).first().click();
    await expect(jobs.getByRole('listitem')).toHaveCount(1, { timeout: 1000 });
  }).toPass();
  await expect(jobs.getByRole('listitem')).toContainText('webhook');
  await expect(jobs.getByRole('listitem')).toContainText('500');

  receiving = true;
  await jobs.getByRole('button', { name: 'Run again' }).click();
  await expect(page.getByText('The job runs again.')).toBeVisible();
  await expect.poll(() => received).toBe(1);
  await expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).first().click();
    await expect(jobs.getByText('No job has failed.')).toBeVisible({ timeout: 1000 });
  }).toPass();

  await page.getByRole('button', { name: 'Send a test' }).click();
  await expect(panel(page, 'Mail').getByRole('listitem')).toHaveText([/: Sent$/, /: Sent$/]);
  expect(received).toBe(2);
  const inbox = await (await fetch(`${process.env.MAILPIT_URL}/api/v1/messages?limit=20`)).json();
  expect(inbox.messages.map((m: { Subject: string }) => m.Subject).join()).toMatch(/test/i);

  const line = panel(page, 'Functions').getByRole('row').filter({ hasText: 'submit-report' });
  await page.getByRole('button', { name: 'Refresh' }).first().click();
  await expect(line.getByRole('cell').first()).toHaveText('1');
  await page.getByRole('button', { name: 'Show the log' }).click();
  await expect(page.getByRole('region', { name: 'Log of the functions' })).toContainText('submit-report');

  const sizes = panel(page, 'Sizes and versions');
  for (const [name, value] of [
    ['Program', /\S/],
    ['Postgres', /^17\.\d+$/],
    ['Schema', /^\d{14}$/],
    ['Database', /^[\d.]+ MB$/],
    ['Reports', /^\d+$/],
    ['report-photos', /^0 files, 0 B$/],
    ['resources', /^24 files, [\d.]+ MB$/],
  ] as const) {
    const row = sizes.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });
    await expect(row.locator('dd'), name).toHaveText(value);
  }

  await page.getByRole('link', { name: 'Trail' }).click();
  for (const [who, what] of [
    [email, 'ran operation mail-test'],
    [email, 'retried job'],
    ['', 'ran operation backup'],
    ['', 'ran operation backup-verify'],
  ] as const) {
    await expect(
      page.getByRole('row').filter({ hasText: what }).filter({ hasText: who }).first(),
    ).toBeVisible();
  }
});

test('a reviewer sees no system page and may run no operation', async ({ page }) => {
  await enterDesk(page, 'reviewer');
  await expect(page.getByRole('link', { name: 'System' })).toHaveCount(0);
  await page.goto(`${deskURL()}/#/system`);
  await expect(page.getByRole('alert')).toHaveText('Your role does not allow this.');
  const token = await page.evaluate(
    () => JSON.parse(localStorage.getItem('desk-session') ?? '{}').access_token,
  );
  for (const operation of ['backup', 'doctor', 'mail-test', 'function-logs', 'version']) {
    const reply = await page.request.post(`${deskURL()}/functions/v1/system`, {
      headers: { apikey: process.env.PUBLISHABLE_KEY ?? '', Authorization: `Bearer ${token}` },
      data: { operation },
    });
    expect(reply.status(), operation).toBe(403);
  }
});
