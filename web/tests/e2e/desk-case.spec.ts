import { readFile } from 'node:fs/promises';
import { expect, type Page, test } from '@playwright/test';
import { addReports, deskURL, enterDesk, search, totp } from './desk';
import { admin, uniqueName } from './stack';

const openReport = (page: Page, reference: string | undefined) =>
  page.goto(`${deskURL()}/#/reports/${reference}`);

test('a message from a template is sent by the member alone, and logged with its outcome', async ({
  page,
}) => {
  const product = uniqueName('call');
  const [report] = await addReports([
    { product_name: product, issue_description: 'x', phone_e164: '+252612345678', language: 'so' },
  ]);
  await enterDesk(page, 'reviewer');
  await search(page, product, '1 report'); // reports of other tests push it from the first page of all
  const row = page.getByRole('option').filter({ hasText: report?.reference });
  await row.click();
  await page.getByRole('button', { name: 'Write a message' }).click();
  await page.getByLabel('Begin with').selectOption('Ask when to call');
  const message = page.getByLabel('Message', { exact: true });
  await expect(message).toHaveValue(new RegExp(`^Salaan.*${report?.reference}`)); // the language of the report
  await page.getByLabel('Language').selectOption('English');
  await expect(message).toHaveValue(/^Hello\./);
  await message.fill('Hello. May we call?');
  await expect(page.getByRole('link', { name: 'Open in WhatsApp' })).toHaveAttribute(
    'href',
    'https://wa.me/252612345678?text=Hello.%20May%20we%20call%3F',
  );
  await expect(page.getByRole('link', { name: 'Open as text message' })).toHaveAttribute(
    'href',
    'sms:+252612345678?body=Hello.%20May%20we%20call%3F',
  );
  await page.getByRole('button', { name: 'Log a call or message' }).click();
  await expect(page.getByLabel('Outcome')).toHaveValue('sent');
  await page.getByLabel('By', { exact: true }).selectOption('Call');
  await page.getByLabel('Outcome').selectOption('Call again later');
  await page.getByLabel('What was said or agreed').fill('On Tuesday after ten.');
  await page.getByRole('button', { name: 'Save to the log' }).click();
  const line = page.getByRole('listitem').filter({ hasText: 'On Tuesday after ten.' });
  await expect(line).toContainText('Call: Call again later');
  await expect(
    page.getByRole('listitem').filter({ hasText: 'logged a contact: Call, Call again later' }),
  ).toContainText('Hodan Warsame');

  // A voice message has a badge of its own in the list.
  await page.getByRole('button', { name: 'Log a call or message' }).click();
  await page.getByLabel('By', { exact: true }).selectOption('Voice message');
  await page.getByRole('button', { name: 'Save to the log' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Voice message: Reached' })).toBeVisible();
  await expect(row.getByText('1 voice message')).toBeAttached();
});

test('reports of one batch and of one shop are found, linked, and taken apart', async ({ page }) => {
  const [product, shop] = [uniqueName('lotion'), uniqueName('Shop')];
  const batch = uniqueName('B1');
  const row = (values: object) => ({
    product_name: product,
    issue_description: 'It burned my skin.',
    region: 'Bay',
    ...values,
  });
  const reports = await addReports([
    row({ batch_number: batch, where_bought: shop }),
    row({ batch_number: batch.toUpperCase(), where_bought: shop, issue_description: 'short' }),
    row({ product_name: uniqueName('soap'), where_bought: `${shop}.`, issue_description: 'foam' }),
  ]);
  await enterDesk(page, 'reviewer');
  await openReport(page, reports[0]?.reference);
  const similar = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Similar reports' }) });
  const line = (i: number) => similar.getByRole('listitem').filter({ hasText: reports[i]?.reference });
  await expect(line(1)).toContainText('same batch');
  await expect(line(1)).toContainText('same product');
  await expect(line(2)).toContainText('same shop');
  await line(2).getByRole('button', { name: /^Link/ }).click();
  await expect(line(2)).toContainText('linked');
  await similar.getByRole('button', { name: 'Take out of the linked ones' }).click();
  await expect(line(2)).not.toContainText('linked');

  await page.getByRole('link', { name: 'Clusters' }).click();
  const card = page.getByRole('listitem').filter({ hasText: batch }).filter({ hasText: '2 reports' });
  await card.getByRole('button', { name: /^Link these/ }).click();
  await expect(page.getByText('2 reports are linked')).toBeVisible();
  await card.getByRole('link', { name: reports[1]?.reference }).click();
  await expect(line(0)).toContainText('linked');
});

test('a notice becomes an E2B(R3) file, is recorded with its authority, and stands in the timeline', async ({
  page,
}) => {
  const product = uniqueName('notice');
  const [report] = await addReports([
    {
      product_name: product,
      issue_description: 'Amina burned her skin.',
      name: 'Amina Cali',
      seriousness: ['hospital'],
    },
  ]);
  await enterDesk(page, 'owner');
  await page.goto(`${deskURL()}/#/reports/${report?.reference}/forward`);
  await page.getByLabel('I have read it.').check();
  await page.getByLabel('To which authority').fill('Ministry of Health');
  const file = await downloaded(page, () => page.getByRole('button', { name: 'Save E2B(R3) file' }).click());
  expect(file).toContain(`<name>${product}</name>`);
  expect(file).toContain('extension="MINISTRY OF HEALTH"');
  expect(file).not.toMatch(/Amina|Cali/);
  await page.getByLabel('Their number').fill('MOH-7');
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Their number: MOH-7' })).toContainText(
    'Ministry of Health · E-mail',
  );
  await openReport(page, report?.reference);
  await expect(page.getByText('sent a notice to Ministry of Health')).toBeVisible();

  await search(page, product, '1 report');
  await page.getByRole('searchbox').press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Save E2B(R3) file' }).click();
  const cases = await downloaded(page, () =>
    page.getByRole('dialog').getByRole('button', { name: 'Save E2B(R3) file' }).click(),
  );
  expect(cases).toContain(`SO-DAAWO-${report?.reference}`);
  expect(cases).not.toMatch(/Amina|Cali/);
});

const guides: string[] = [];

test.afterEach(async () => {
  for (const slug of guides.splice(0)) {
    await admin().from('resources').delete().eq('guide', slug);
    await admin().from('guides').delete().eq('slug', slug);
  }
});

test('a pharmacist signs a guide off with a second step, and another text ends the review', async ({
  page,
  browser,
}) => {
  const slug = uniqueName('guide').replace(' ', '-');
  guides.push(slug);
  const stored = await admin().from('resources').insert({
    title: slug,
    category: 'Safety',
    guide: slug,
    file_language: 'en',
    file_url: '/files/a.pdf',
    created_at: '2020-01-01', // after those of the seed: other tests open the first card
  });
  expect(stored.error).toBeNull();
  await enterDesk(page, 'owner');
  await page.goto(`${deskURL()}/#/guides/${slug}`);
  await expect(page.getByRole('button', { name: 'Sign off' })).toBeDisabled();
  await page.goto(`${deskURL()}/#/account`);
  await page.getByRole('button', { name: 'Add an authenticator app' }).click();
  const secret = (await page.locator('dialog code').textContent()) ?? '';
  await page.getByLabel('Six digits').fill(totp(secret));
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('Authenticator app', { exact: true })).toBeVisible();

  await page.goto(`${deskURL()}/#/guides/${slug}`);
  await page.getByRole('button', { name: 'Sign off' }).click();
  await page.getByLabel('Your profession').fill('Pharmacist');
  await page.getByLabel('Six digits').fill(totp(secret, Date.now() + 30_000)); // each code works once
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('Reviewed by Hodan Warsame, Pharmacist')).toBeVisible();

  const visitor = await (await browser.newContext()).newPage();
  await visitor.goto(`${process.env.API_URL}/resources/`);
  await expect(visitor.locator('[data-slot=card]').filter({ hasText: slug })).toContainText(
    'Reviewed by Hodan Warsame, Pharmacist',
  );
  await visitor.context().close();

  await page.getByLabel('Description').first().fill('Another text.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Not reviewed', { exact: true })).toBeVisible();
});

async function downloaded(page: Page, click: () => Promise<void>) {
  const download = page.waitForEvent('download');
  await click();
  return readFile((await (await download).path()) ?? '', 'utf8');
}
