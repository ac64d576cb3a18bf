import { readFile } from 'node:fs/promises';
import { type Browser, expect, type Page, test } from '@playwright/test';
import { addReports, choosePassword, deskURL, enterDesk, invitationLink, password, totp } from './desk';
import { jpeg } from './photos';
import { admin, uniqueName } from './stack';

/*
 * The work of a pharmacist who owns an installation, as one story: against the stack of the environment, with its mail. The parts
 * follow from each other, and the trail at the end has all of them.
 */
test('invitation, second step, triage, resource, figures, export, deletion, and the trail of all of it', async ({
  page: first,
  browser,
}) => {
  test.setTimeout(400_000);
  const product = uniqueName('cream');
  const leaflet = uniqueName('Leaflet');
  const email = `${uniqueName('hodan').replace(' ', '-')}@example.org`;

  await test.step('an owner sends an invitation by mail', async () => {
    await enterDesk(first, 'owner');
    await first.getByRole('link', { name: 'Staff' }).click();
    await first.getByLabel('E-mail').fill(email);
    await first.getByLabel('Role', { exact: true }).selectOption('owner');
    await first.getByRole('button', { name: 'Send invitation' }).click();
    await expect(first.getByText(`${email} gets a mail with a link.`)).toBeVisible();
    await first.context().close();
  });

  const page = await newPage(browser);
  await page.goto(await invitationLink(email));
  const me = await test.step('the member chooses a password and signs in with a second step', () =>
    signInWithTOTP(page, email));
  const reports = await addReports(
    Array.from({ length: 10 }, (_, i) => ({
      product_name: product,
      issue_description: i === 9 ? '@secret words of Amina' : 'It burned.',
      name: 'Amina Cali',
      region: 'Bari',
      created_at: new Date(Date.now() - i * 1000).toISOString(),
    })),
  );
  const last = reports.at(-1);
  if (!last) throw new Error('no report');
  await addPhoto(last.id, await jpeg(page, 800, 600));
  await test.step('ten reports are triaged by keyboard', () => triage(page, product, reports));
  await test.step('the last report has a photo, which is enlarged', () => lookAtPhoto(page));
  await test.step('status, assignee and note', () => workOn(page, me));
  await test.step('a resource with a PDF is published and seen on the site', () => publish(page, leaflet));
  await test.step('figures and export', () => exportAll(page, product));
  await test.step('the report is deleted with a reason', () => remove(page, last.reference));
  await test.step('the trail shows all of it', () => checkTrail(page, email, reports, leaflet));

  const kept = await admin().from('reports').select('reference').eq('product_name', product);
  expect(kept.data?.map((r) => r.reference).sort()).toEqual(
    reports
      .map((r) => r.reference)
      .filter((name) => name !== last.reference)
      .sort(),
  );
  await admin().from('resources').delete().eq('title', leaflet);
});

async function newPage(browser: Browser) {
  return (await browser.newContext()).newPage();
}

/** Returns the id of the account. */
async function signInWithTOTP(page: Page, email: string) {
  await choosePassword(page);
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Add an authenticator app' }).click();
  const secret = (await page.locator('dialog code').textContent()) ?? '';
  await page.getByLabel('Six digits').fill(totp(secret));
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('Authenticator app', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();

  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('another password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toHaveText('This e-mail and password do not match.');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Second step' })).toBeVisible();
  await checkFirstToken(page);
  await page.getByLabel('Six digits').fill(totp(secret, Date.now() + 30_000)); // each code works once
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  const session = await page.evaluate(() => JSON.parse(localStorage.getItem('desk-session') ?? '{}'));
  return session.user.id as string;
}

/** Checks that a token of a password alone opens nothing, changes no password and adds or removes no factor. */
async function checkFirstToken(page: Page) {
  const { access_token: token, user } = await page.evaluate(() =>
    JSON.parse(localStorage.getItem('desk-session') ?? '{}'),
  );
  const factor = user.factors[0].id;
  const headers = { apikey: process.env.PUBLISHABLE_KEY ?? '', Authorization: `Bearer ${token}` };
  const requests: [string, string, object?][] = [
    ['POST', '/rest/v1/rpc/list_reports', {}],
    ['POST', '/rest/v1/rpc/staff_members', {}],
    ['POST', '/rest/v1/rpc/system_state', {}],
    ['POST', '/functions/v1/staff-invite', { email: 'thief@example.org', role: 'owner' }],
    ['POST', '/functions/v1/system', { operation: 'backup' }],
    ['POST', '/auth/v1/factors', { factor_type: 'totp', friendly_name: 'thief' }],
    ['DELETE', `/auth/v1/factors/${factor}`],
    ['PUT', '/auth/v1/user', { password: 'the password of a thief' }],
  ];
  for (const [method, path, data] of requests) {
    const reply = await page.request.fetch(deskURL() + path, { method, headers, data });
    expect([401, 403, 422], `${method} ${path}: ${reply.status()} ${await reply.text()}`).toContain(
      reply.status(),
    );
  }
}

async function addPhoto(report: string, photo: Buffer) {
  const name = `${Date.now()}.jpg`;
  const client = admin();
  const stored = await client.storage
    .from('report-photos')
    .upload(name, photo, { contentType: 'image/jpeg' });
  expect(stored.error).toBeNull();
  const set = await client
    .from('reports')
    .update({ photo_url: name, photo_metadata: 'removed' })
    .eq('id', report);
  expect(set.error).toBeNull();
}

const words = ['New', 'Reviewing', 'Acted on', 'Closed'];

async function triage(page: Page, product: string, reports: { reference: string }[]) {
  await page.keyboard.press('/');
  const found = page.waitForResponse(
    (r) => r.url().endsWith('/rpc/list_reports') && (r.request().postData() ?? '').includes(product),
  );
  await page.keyboard.insertText(product);
  await page.keyboard.press('Enter');
  await found;
  // the rows are those of the search
  await expect(page.getByRole('button', { name: 'Refresh' })).toHaveAttribute('aria-busy', 'false');
  await expect(page.getByText('10 reports', { exact: true })).toBeVisible();
  await page.keyboard.press('Escape');
  for (const [i, { reference }] of reports.entries()) {
    await page.keyboard.press('j');
    await expect(page).toHaveURL(new RegExp(`${reference}$`));
    await expect(page.getByText('Received').first()).toContainText(reference);
    const status = (i % 3) + 2;
    await page.keyboard.press(String(status));
    await expect(page.getByRole('listbox').getByRole('option', { selected: true })).toContainText(
      words[status - 1] ?? '',
    );
  }
  await expect(async () => {
    const { data } = await admin()
      .from('reports')
      .select('reference, status, first_action_at')
      .eq('product_name', product);
    const status = Object.fromEntries((data ?? []).map((r) => [r.reference, r.status]));
    expect(reports.map((r) => status[r.reference])).toEqual(
      reports.map((_, i) => ['reviewing', 'actioned', 'closed'][i % 3]),
    );
    expect(data?.every((r) => r.first_action_at)).toBe(true);
  }).toPass();
}

async function lookAtPhoto(page: Page) {
  const shown = page.getByRole('img', { name: 'Enlarge the photo' });
  await expect(shown).toHaveAttribute('src', /^blob:/);
  await shown.click();
  const large = page.getByRole('dialog', { name: 'Photo' }).locator('img');
  await expect(large).toBeVisible();
  const width = async () => (await large.boundingBox())?.width ?? 0;
  const before = await width();
  await page.getByRole('button', { name: '+' }).click();
  await expect.poll(width).toBeGreaterThan(before * 1.4);
  await page.keyboard.press('Escape');
}

async function workOn(page: Page, me: string) {
  await page.keyboard.press('3');
  await expect(page.getByRole('button', { name: 'Acted on', exact: true, pressed: true })).toBeVisible();
  await page.keyboard.press('a');
  await expect(page.getByLabel('Assigned to')).toHaveValue(me);
  await page.keyboard.press('n');
  await page.keyboard.insertText('Called the shop.');
  await page.keyboard.press('Control+Enter');
  const note = page.getByRole('listitem').filter({ hasText: 'Called the shop.' });
  await expect(note).toContainText('Hodan Warsame');
  await expect(note.locator('time')).toHaveText(/\d\d:\d\d$/);
}

async function publish(page: Page, title: string) {
  await page.getByRole('link', { name: 'Resources' }).click();
  await page.getByRole('link', { name: 'Add a resource' }).click();
  await page.getByLabel('Title').first().fill(title);
  await page.getByLabel('Category').selectOption('Safety');
  await page.getByLabel('Title').nth(1).fill(`${title} so`);
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    const content = `%PDF-1.7\n${' '.repeat(300_000)}`;
    transfer.items.add(new File([content], 'Käydi leaflet.pdf', { type: 'application/pdf' }));
    return transfer;
  });
  await page.locator('.border-dashed').dispatchEvent('drop', { dataTransfer: data });
  await expect(page.getByText('The file is uploaded.')).toBeVisible();
  const card = page.getByRole('article');
  await expect(card).toContainText(title);
  await expect(card).toContainText('PDF · 293 KB');
  await page.getByRole('button', { name: 'SO', exact: true }).click();
  await expect(card).toContainText(`${title} so`);
  await page.getByRole('button', { name: 'Save' }).click();
  const line = page.getByRole('listitem').filter({ hasText: title });
  await expect(line).toContainText('Hidden');
  await line.getByRole('button', { name: /^Publish/ }).click();
  await expect(line).toContainText('Shown');

  const visitor = await page.context().browser()?.newPage();
  if (!visitor) throw new Error('no browser');
  await visitor.goto(`${process.env.API_URL}/resources/`);
  await expect(visitor.getByRole('heading', { name: title })).toBeVisible();
  const stored = await admin().from('resources').select('file_url, file_size').eq('title', title).single();
  expect(stored.data?.file_size).toBe(300_009);
  const file = await visitor.request.get(new URL(stored.data?.file_url, process.env.API_URL).href);
  expect((await file.body()).length).toBe(300_009);
  await visitor.close();
}

async function exportAll(page: Page, product: string) {
  await page.getByRole('link', { name: 'Figures' }).click();
  await expect(page.getByRole('img', { name: 'Map of the 18 regions' })).toBeVisible();
  await expect(page.getByRole('row', { name: `${product} 10` })).toBeVisible();
  const figures = await downloaded(page, 'Download CSV');
  expect(figures).toContain(`${product},10`);
  expect(figures).not.toMatch(/Amina|secret words/);
  const rows = await downloaded(page, 'Export reports as CSV');
  expect(rows).toContain(product);
  expect(rows).toContain(`'@secret words of Amina`); // no spreadsheet takes it for a formula
}

async function downloaded(page: Page, button: string) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).first().click();
  return readFile((await (await download).path()) ?? '', 'utf8');
}

async function remove(page: Page, reference: string) {
  await page.goto(`${deskURL()}/#/reports/${reference}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByLabel(/Reason/).fill('asked for by its author');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText(`${reference} is deleted`)).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(/#\/reports$/);
  await page.goto(`${deskURL()}/#/reports/${reference}`);
  await expect(page.getByRole('alert')).toContainText('There is no report with this reference.');
}

async function checkTrail(page: Page, email: string, reports: { reference: string }[], leaflet: string) {
  const last = reports.at(-1)?.reference;
  await page.getByRole('link', { name: 'Trail' }).click();
  await page.getByLabel('Who').fill(email);
  const expected = [
    'searched report',
    ...reports.flatMap(({ reference }, i) => [
      `read report ${reference}`,
      `changed report ${reference} status: New → ${words[(i % 3) + 1]}`,
    ]),
    `changed report ${last} status: Reviewing → Acted on`,
    `changed report ${last} assigned to: – → Hodan Warsame`,
    `wrote a note on report ${last}`,
    `added resource ${leaflet}`,
    `changed resource ${leaflet} shown: yes`,
    'exported report reports: N',
    `deleted report ${last} reason: asked for by its author, status: Acted on`,
  ];
  const lines = page.getByRole('row').filter({ hasText: email });
  await expect(lines).toHaveCount(expected.length); // to read a report again within ten minutes adds none
  await expect(lines.filter({ hasText: 'Hodan Warsame' })).toHaveCount(1); // the name comes with the staff
  const seen = await lines.evaluateAll((rows) =>
    rows.map((row) =>
      [...row.querySelectorAll('td')]
        .slice(2)
        .map((cell) => cell.textContent)
        .join(' '),
    ),
  );
  const plain = seen.map((line) =>
    line
      .replace(/\s+/g, ' ')
      .replace(/reports: \d+/, 'reports: N')
      .trim(),
  );
  expect(plain.reverse()).toEqual(expected);
  await expect(page.getByText(/secret words|Amina/)).toHaveCount(0);
}
