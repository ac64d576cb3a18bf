import { readFile } from 'node:fs/promises';
import { expect, type Page, test } from '@playwright/test';
import { addReports, choosePassword, deskURL, enterDesk, makeMember, password, totp } from './desk';
import { admin, uniqueName } from './stack';

const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

// A picture of one pixel.
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function search(page: Page, words: string, count: string) {
  const found = page.waitForResponse(
    (r) => r.url().endsWith('/rpc/list_reports') && (r.request().postData() ?? '').includes(words),
  );
  await page.getByRole('searchbox').fill(words);
  await found; // the number may be that of the unfiltered list by chance
  await expect(page.getByText(count, { exact: true })).toBeVisible();
}

test('an invited member chooses a password, adds a second factor and needs it from then on', async ({
  page,
}) => {
  const { email } = await enterDesk(page, 'owner');
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

  // The token before the second step opens nothing.
  const token = await page.evaluate(
    () => JSON.parse(localStorage.getItem('desk-session') ?? '{}').access_token,
  );
  for (const name of ['list_reports', 'staff_members', 'system_state']) {
    const reply = await page.request.post(`${deskURL()}/rest/v1/rpc/${name}`, {
      headers: { apikey: process.env.PUBLISHABLE_KEY ?? '', Authorization: `Bearer ${token}` },
    });
    expect(reply.status(), name).toBe(403);
  }
  await page.getByLabel('Six digits').fill(totp(secret, Date.now() + 30_000)); // each code works once
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
});

test('a mailed invitation opens the desk, and removal closes it at once', async ({ page, browser }) => {
  await enterDesk(page, 'owner');
  await page.getByRole('link', { name: 'Staff' }).click();
  const email = `${uniqueName('invited').replace(' ', '-')}@example.org`;
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await expect(page.getByText(`${email} gets a mail with a link.`)).toBeVisible();

  const other = await (await browser.newContext()).newPage();
  await other.goto(await invitationLink(email));
  await choosePassword(other);
  await expect(other.getByRole('heading', { name: 'Reports' })).toBeVisible();
  await expect(other.getByRole('link', { name: 'Staff' })).toHaveCount(0);

  const line = page.getByRole('listitem').filter({ hasText: email });
  await line.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(line).toHaveCount(0);
  await other.getByRole('button', { name: 'Refresh' }).click();
  await expect(other.getByRole('alert')).toContainText(/reviewers only|did not work/);
  await other.reload();
  await expect(other.getByText(/session has ended|not, or no longer|Sign in/).first()).toBeVisible();
});

async function invitationLink(email: string) {
  const inbox = process.env.MAILPIT_URL;
  let link = '';
  await expect(async () => {
    const list = await (await fetch(`${inbox}/api/v1/messages?limit=200`)).json();
    const found = list.messages.find((m: { To: { Address: string }[] }) =>
      m.To.some((to) => to.Address === email),
    );
    const message = await (await fetch(`${inbox}/api/v1/message/${found.ID}`)).json();
    link =
      /https?:\/\/\S+\/auth\/v1\/verify[^\s"<>]+/
        .exec(message.Text || message.HTML)?.[0]
        .replaceAll('&amp;', '&') ?? '';
    expect(link).not.toBe('');
  }).toPass();
  return link;
}

test('ten reports are triaged by keyboard, and no field of theirs runs a script', async ({ page }) => {
  const product = uniqueName('cream');
  const reports = await addReports(
    Array.from({ length: 10 }, (_, i) => ({
      product_name: `${product} ${evil}`,
      issue_description: evil,
      name: evil,
      phone: '+252612345678',
      phone_e164: '+252612345678',
      where_bought: evil,
      location: evil,
      batch_number: evil,
      reviewer_notes: evil,
      created_at: new Date(Date.now() - i * 1000).toISOString(),
    })),
  );
  const { id } = await enterDesk(page, 'reviewer');
  await search(page, product, '10 reports');
  await page.getByRole('searchbox').press('Escape');
  for (const [i, { reference }] of reports.entries()) {
    await page.keyboard.press('j');
    await expect(page.getByRole('heading', { level: 1, name: product })).toBeVisible();
    await expect(page).toHaveURL(new RegExp(`${reference}$`));
    await page.keyboard.press(String((i % 3) + 2));
    await expect(page.getByRole('listbox').getByRole('option', { selected: true })).toContainText(
      ['Reviewing', 'Acted on', 'Closed'][i % 3] ?? '',
    );
  }
  await page.keyboard.press('a');
  await expect(page.getByLabel('Assigned to')).toHaveValue(id);
  await page.keyboard.press('n');
  await page.keyboard.type('called the shop');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('called the shop')).toBeVisible();
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();

  const { data } = await admin()
    .from('reports')
    .select('reference, status, first_action_at')
    .in(
      'id',
      reports.map((r) => r.id),
    );
  const expected = Object.fromEntries(
    reports.map((r, i) => [r.reference, ['reviewing', 'actioned', 'closed'][i % 3]]),
  );
  expect(Object.fromEntries((data ?? []).map((r) => [r.reference, r.status]))).toEqual(expected);
  expect(data?.every((r) => r.first_action_at)).toBe(true);
});

test('keys act on the report of the address, however fast they follow', async ({ page }) => {
  const product = uniqueName('ointment');
  const reports = await addReports(
    Array.from({ length: 6 }, (_, i) => ({
      product_name: product,
      issue_description: 'It burned.',
      phone: '+252612345678',
      phone_e164: '+252612345678',
      location: 'Bari',
      created_at: new Date(Date.now() - i * 1000).toISOString(),
    })),
  );
  await enterDesk(page, 'reviewer');
  await search(page, product, '6 reports');
  await page.getByRole('searchbox').press('Escape');
  // Each key in a task of its own, without time for the screen between them.
  await page.evaluate(async () => {
    for (const key of 'j2j3j4j2j3j4') {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      await new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(0);
      });
    }
  });
  const expected = ['reviewing', 'actioned', 'closed', 'reviewing', 'actioned', 'closed'];
  await expect(async () => {
    const { data } = await admin().from('reports').select('reference, status').eq('product_name', product);
    const status = Object.fromEntries((data ?? []).map((r) => [r.reference, r.status]));
    expect(reports.map((r) => status[r.reference])).toEqual(expected);
  }).toPass();
});

test('a new report appears by itself, and the browser gets nothing of it but the list', async ({ page }) => {
  const frames: string[] = [];
  page.on('websocket', (socket) => socket.on('framereceived', (f) => frames.push(String(f.payload))));
  await enterDesk(page, 'reviewer');
  await expect(page.getByRole('img', { name: 'Live: new reports appear by themselves' })).toBeVisible({
    timeout: 30_000,
  });
  const product = uniqueName('live');
  const [report] = await addReports([
    { product_name: product, issue_description: 'secret words', name: 'Amina Cali', phone: '061 2345678' },
  ]);
  await expect(page.getByRole('option').filter({ hasText: product })).toBeVisible();
  const all = frames.join();
  expect(all).toContain(report?.id);
  expect(all).not.toMatch(/secret words|Amina|2345678|search_text/);
});

test('no text of a visitor or of a member runs a script on another screen', async ({ page }) => {
  const product = `${uniqueName('script')} ${evil}`;
  const rows = {
    product_name: product,
    issue_description: evil,
    name: evil,
    phone: '<img src=x onerror=window.hacked=1>',
    location: evil,
  };
  const [first] = await addReports([rows, rows]);
  const client = admin();
  const note = await client.from('report_notes').insert({ report_id: first?.id, body: evil });
  expect(note.error).toBeNull();
  const title = `${uniqueName('script')} ${evil}`;
  const added = await client
    .from('resources')
    .insert({ title, title_so: evil, description: evil, category: evil, is_active: false })
    .select('id')
    .single();
  expect(added.error).toBeNull();
  const other = await makeMember('reviewer');
  await client.auth.admin.updateUserById(other.id, { user_metadata: { name: evil } });
  await enterDesk(page, 'owner');
  for (const [screen, sign] of [
    [`reports/${first?.reference}`, 'Side by side'],
    [`reports/${first?.reference}/forward`, 'Notice to the authority'],
    ['resources', 'Resources'],
    [`resources/${added.data?.id}`, 'Edit resource'],
    ['staff', 'Staff'],
    ['trail', 'Trail'],
    ['figures', 'Figures'],
  ] as const) {
    await page.goto(`${deskURL()}/#/${screen}`);
    if (sign === 'Side by side') await page.getByRole('button', { name: 'Compare' }).first().click();
    await expect(page.getByRole('heading', { name: sign })).toBeVisible();
    await expect(page.getByText('Loading…')).toHaveCount(0);
    await expect(page.locator('img[src="x"]'), screen).toHaveCount(0);
    expect(await page.evaluate(() => (window as { hacked?: number }).hacked), screen).toBeUndefined();
  }
  await client.from('resources').delete().eq('id', added.data?.id);
  await client.rpc('set_staff_role', { member: other.id, role: null });
});

test('a request without a token changes nothing, whatever the browser sends with it', async ({ request }) => {
  const [report] = await addReports([{ product_name: uniqueName('csrf'), issue_description: 'x' }]);
  // What a page of another origin can send without a preflight: a form, or text that looks like JSON.
  const kinds: Record<string, string>[] = [
    { 'Content-Type': 'text/plain', Origin: 'https://evil.example.org' },
    {
      'Content-Type': 'application/x-www-form-urlencoded',
      Origin: 'https://evil.example.org',
      Cookie: 'sb=1',
    },
  ];
  for (const headers of kinds) {
    for (const [path, data] of [
      ['/rest/v1/rpc/delete_report', `{"name":"${report?.reference}","reason":"a forged request"}`],
      ['/functions/v1/staff-invite', '{"email":"evil@example.org","role":"owner"}'],
      ['/functions/v1/system', '{"operation":"backup"}'],
      ['/storage/v1/object/resources/evil.pdf', '%PDF-1.7'],
    ] as const) {
      const reply = await request.post(deskURL() + path, { headers, data });
      expect([400, 401, 403], `${path}: ${reply.status()}`).toContain(reply.status());
    }
  }
  const { data } = await admin().from('reports').select('id').eq('id', report?.id);
  expect(data).toHaveLength(1);
});

test('a photo is shown only to a reviewer who has opened its report, and not after sign-out', async ({
  page,
}) => {
  const name = `${Date.now()}.png`;
  const stored = await admin()
    .storage.from('report-photos')
    .upload(name, pixel, { contentType: 'image/png' });
  expect(stored.error).toBeNull();
  const product = uniqueName('photo');
  await addReports([
    { product_name: product, issue_description: 'x', photo_url: name, photo_metadata: 'removed' },
  ]);
  await enterDesk(page, 'reviewer');
  const sign = () =>
    page.evaluate(
      async ([file, key]) => {
        const token = JSON.parse(localStorage.getItem('desk-session') ?? '{}').access_token;
        const reply = await fetch(`/storage/v1/object/sign/report-photos/${file}`, {
          method: 'POST',
          headers: {
            apikey: key ?? '',
            Authorization: `Bearer ${token}`,
            'Content-Type': 'application/json',
          },
          body: '{"expiresIn":60}',
        });
        return reply.status;
      },
      [name, process.env.PUBLISHABLE_KEY],
    );
  expect(await sign(), 'before the report is opened').toBe(400);
  await search(page, product, '1 report');
  const signed: string[] = [];
  page.on(
    'request',
    (r) => r.method() === 'GET' && r.url().includes('/object/sign/') && signed.push(r.url()),
  );
  await page.getByRole('option').click();
  const photo = page.getByRole('img', { name: 'Enlarge the photo' });
  await expect(photo).toBeVisible();
  expect(await photo.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1);
  expect(await sign(), 'after it').toBe(200);
  const shown = await photo.getAttribute('src');
  expect(shown).toMatch(/^blob:/);
  const [, payload] = (new URL(signed.at(-1) ?? '').searchParams.get('token') ?? '').split('.');
  const { iat, exp } = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
  expect(exp - iat, 'seconds that the address of the photo works').toBeLessThanOrEqual(60);

  const token = await page.evaluate(
    () => JSON.parse(localStorage.getItem('desk-session') ?? '{}').access_token,
  );
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(
    'access_token',
  );
  expect(await page.evaluate(() => caches.keys())).toEqual([]);
  await page
    .evaluate((url) => fetch(url).catch((e: Error) => e.name), shown ?? '')
    .then((result) => {
      expect(result, 'the photo in the memory of the page').toBe('TypeError');
    });
  const reply = await page.request.post(`${deskURL()}/storage/v1/object/sign/report-photos/${name}`, {
    headers: { apikey: process.env.PUBLISHABLE_KEY ?? '', Authorization: `Bearer ${token}` },
    data: { expiresIn: 60 },
  });
  expect(reply.status(), 'with the token of the ended session').toBe(400);
});

test('a resource with a PDF is published and seen on the site', async ({ page, baseURL }) => {
  await enterDesk(page, 'editor');
  const title = uniqueName('Leaflet');
  await page.getByRole('link', { name: 'Add a resource' }).click();
  await page.getByLabel('Title').first().fill(title);
  await page.getByLabel('Category').first().fill('Safety');
  await page.getByLabel('Title').nth(1).fill(`${title} so`);
  await page.locator('input[type=file]').setInputFiles({
    name: 'Käydi leaflet.pdf',
    mimeType: 'application/pdf',
    buffer: Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300_000, 32)]),
  });
  await expect(page.getByText('The file is uploaded.')).toBeVisible();
  await page.getByRole('button', { name: 'Save' }).click();
  const line = page.getByRole('listitem').filter({ hasText: title });
  await expect(line).toContainText('Hidden');
  await line.getByRole('button', { name: /^Publish/ }).click();
  await expect(line).toContainText('Shown');

  await page.goto(`${baseURL ?? process.env.API_URL}/resources/`);
  await expect(page.getByRole('heading', { name: title })).toBeVisible();
  const { data } = await admin()
    .from('resources')
    .select('id, file_url, file_size')
    .eq('title', title)
    .single();
  expect(data?.file_size).toBe(300_009);
  expect((await page.request.get(new URL(data?.file_url, process.env.API_URL).href)).status()).toBe(200);
  await admin().from('resources').delete().eq('id', data?.id);
});

test('figures, export, deletion with a reason, and the trail of all of it', async ({ page }) => {
  const { email } = await enterDesk(page, 'owner');
  const product = uniqueName('deleted');
  const [report] = await addReports([
    { product_name: `=${product}`, issue_description: '@secret words', region: 'Bari' },
  ]);
  await page.goto(`${deskURL()}/#/reports/${report?.reference}`);
  await expect(page.getByRole('heading', { level: 1, name: product })).toBeVisible();

  await page.getByRole('link', { name: 'Figures' }).click();
  await expect(page.getByRole('img', { name: 'Map of the 18 regions' })).toBeVisible();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export reports as CSV' }).click();
  const text = await readFile((await (await download).path()) ?? '', 'utf8');
  expect(text).toContain(`'=${product}`);
  expect(text).toContain(`'@secret words`);

  await page.goto(`${deskURL()}/#/reports/${report?.reference}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByLabel(/Reason/).fill('asked for by its author');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText(`${report?.reference} is deleted`)).toBeVisible();

  await page.getByRole('link', { name: 'Trail' }).click();
  await page.getByLabel('Who').fill(email);
  const lines = page.getByRole('row').filter({ hasText: email });
  await expect(lines).toHaveCount(3); // the reading within ten minutes is one line
  await expect(lines.nth(0)).toContainText(`deleted report ${report?.reference}`);
  await expect(lines.nth(0)).toContainText('asked for by its author');
  await expect(lines.nth(1)).toContainText('exported report');
  await expect(lines.nth(2)).toContainText(`read report ${report?.reference}`);
  await expect(page.getByText('secret words')).toHaveCount(0);
});

test('the notice to the authority has no person in it', async ({ page }) => {
  const [report] = await addReports([
    {
      product_name: uniqueName('forward'),
      issue_description: 'I am Amina, call +252 61 234 5678',
      name: 'Amina Cali',
      phone: '061 2345678',
    },
  ]);
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${report?.reference}/forward`);
  const print = page.getByRole('button', { name: /Print or save/ });
  await expect(print).toBeDisabled();
  await page.getByRole('checkbox').check();
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '');
  });
  await print.click();
  await expect(page.locator('body[data-printed]')).toBeVisible();
  const words = (await page.locator('main').textContent()) ?? '';
  expect(words).not.toMatch(/Amina|234/);
});

test('the desk has an origin of its own, cannot be framed, and needs no other origin', async ({
  page,
  request,
}) => {
  const reply = await request.get(`${deskURL()}/`);
  const policy = reply.headers()['content-security-policy'] ?? '';
  for (const directive of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ]) {
    expect(policy).toContain(directive);
  }
  expect(policy).not.toContain("script-src 'self' 'unsafe-inline'");
  expect(reply.headers()['x-frame-options']).toBe('DENY');
  const site = await request.get(`${process.env.API_URL}/`);
  expect(await site.text()).not.toContain('Daawo desk');
  const foreign: string[] = [];
  page.on('request', (r) => {
    if (!r.url().startsWith(deskURL()) && !/^(data|blob):|^ws:/.test(r.url())) foreign.push(r.url());
  });
  await enterDesk(page, 'owner');
  await page.getByRole('link', { name: 'System' }).click();
  await expect(page.getByText('configuration').first()).toBeVisible();
  expect(foreign).toEqual([]);
  expect(await page.context().cookies()).toEqual([]); // so no other site can act in a member's name
});

test('an account without a role sees no desk', async ({ page }) => {
  const { link, id } = await makeMember('reviewer');
  await admin().rpc('set_staff_role', { member: id, role: null });
  await page.goto(link);
  await expect(page.getByRole('alert')).toContainText('not, or no longer, part of the staff');
});
