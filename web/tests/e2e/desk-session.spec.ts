import { type Browser, expect, type Page, test } from '@playwright/test';
import { addReports, deskURL, enterDesk, mailTo, makeMember, password, search, totp } from './desk';
import { drawn } from './photos';
import { admin, uniqueName } from './stack';

/** Signs a member in on another device. */
async function secondDevice(browser: Browser, email: string) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(deskURL());
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  return page;
}

/** Checks that a device whose session has ended closes by itself, and gets no report after a reload. */
async function isClosed(page: Page, token: string) {
  await expect(page.getByText(/session has ended|not, or no longer|Sign in/).first()).toBeVisible();
  const reply = await page.request.post(`${deskURL()}/rest/v1/rpc/list_reports`, {
    headers: { apikey: process.env.PUBLISHABLE_KEY ?? '', Authorization: `Bearer ${token}` },
    data: {},
  });
  expect(reply.status()).toBe(403);
  await page.reload();
  await expect(page.getByText(/session has ended|not, or no longer|Sign in/).first()).toBeVisible();
  await expect(page.getByRole('navigation')).toHaveCount(0);
}

/** Returns the access token of the page's session. */
const tokenOf = (page: Page) =>
  page.evaluate(() => JSON.parse(localStorage.getItem('desk-session') ?? '{}').access_token as string);

const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).click();

test('sign-in by a mailed code and by a mailed link', async ({ page }) => {
  const { email } = await enterDesk(page, 'reviewer');
  const ask = async (address: string) => {
    await page.getByRole('button', { name: 'Mail me a link instead' }).click();
    await page.getByLabel('E-mail').fill(address);
    await expect(async () => {
      await page.getByRole('button', { name: 'Mail me a link instead' }).click();
      // An address gets one mail in a second; before that the page asks to wait.
      const sent = page.getByText(`If ${address} belongs to the staff, a mail is on its way.`);
      await expect(sent.or(page.getByRole('alert'))).toBeVisible();
      await expect(sent).toBeVisible({ timeout: 1 });
    }).toPass();
  };
  await signOut(page);
  await ask(`${uniqueName('unknown').replace(' ', '-')}@example.org`); // the reply tells no one who has an account
  await page.reload();
  await ask(email);
  const first = await mailTo(email);
  await page.getByLabel('Code from the mail').fill(first.code === '000000' ? '111111' : '000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('alert')).toHaveText('This code is not valid, or too old.');
  await page.getByLabel('Code from the mail').fill(first.code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();

  await signOut(page);
  await ask(email);
  await page.goto((await mailTo(email, first.id)).link);
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  expect(page.url()).not.toContain('token');
});

test('removal closes all devices of a member at once', async ({ page, browser }) => {
  await enterDesk(page, 'owner');
  const { email } = await makeMemberWithPassword(browser);
  const other = await secondDevice(browser, email);
  const token = await tokenOf(other);
  await page.getByRole('link', { name: 'Staff' }).click();
  const line = page.getByRole('listitem').filter({ hasText: email });
  await line.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(line).toHaveCount(0);
  await isClosed(other, token);
});

async function makeMemberWithPassword(browser: Browser) {
  const page = await (await browser.newContext()).newPage();
  const member = await enterDesk(page, 'reviewer');
  await expect(page.getByRole('link', { name: 'Staff' })).toHaveCount(0);
  await page.context().close();
  return member;
}

test('a member signs out everywhere', async ({ page, browser }) => {
  const { email } = await enterDesk(page, 'reviewer');
  const other = await secondDevice(browser, email);
  const token = await tokenOf(other);
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  await isClosed(other, token);
});

test('an owner removes the lost second step of a member', async ({ page, browser }) => {
  const phone = await (await browser.newContext()).newPage();
  const { email, id } = await enterDesk(phone, 'reviewer');
  await phone.getByRole('link', { name: 'Account' }).click();
  await phone.getByRole('button', { name: 'Add an authenticator app' }).click();
  await phone.getByLabel('Six digits').fill(totp((await phone.locator('dialog code').textContent()) ?? ''));
  await phone.getByRole('button', { name: 'Continue' }).click();
  await expect(phone.getByText('Authenticator app', { exact: true })).toBeVisible();
  await phone.getByRole('link', { name: 'Reports' }).click();
  await expect(phone.getByRole('heading', { name: 'Reports' })).toBeVisible();
  const token = await tokenOf(phone);

  await enterDesk(page, 'owner');
  await page.getByRole('link', { name: 'Staff' }).click();
  const line = page.getByRole('listitem').filter({ hasText: email });
  await line.getByRole('button', { name: /^Remove second step/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove second step' }).click();
  await expect(line.getByRole('button', { name: /^Remove second step/ })).toHaveCount(0);
  expect((await admin().auth.admin.mfa.listFactors({ userId: id })).data?.factors).toEqual([]);
  await isClosed(phone, token);
  await secondDevice(browser, email); // the password is enough on a local address
});

test('a session ends after twelve hours', async ({ page }) => {
  const reply = page.waitForResponse(
    async (r) => r.url().endsWith('/rpc/my_staff_access') && (await r.json()).session_ends,
  );
  await enterDesk(page, 'reviewer');
  const access = await (await reply).json();
  const hours = (Date.parse(access.session_ends) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(11.9);
  expect(hours).toBeLessThanOrEqual(12);
  // What the database answers then; TestStaffAccess has it in the column "owner 13 hours".
  await page.route('**/rpc/my_staff_access', (route) => route.fulfill({ json: { ...access, role: null } }));
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(page.getByText('Your session has ended. Sign in again:')).toBeVisible();
  await expect(page.getByRole('navigation')).toHaveCount(0);
});

test('nothing of a report is in a notification, or in the browser after sign-out', async ({
  page,
  context,
}) => {
  const product = uniqueName('kept');
  const [report] = await addReports([
    { product_name: product, issue_description: 'secret words', name: 'Amina Cali', phone: '061 2345678' },
  ]);
  const words = new RegExp(`secret words|Amina|2345678|${product}`);
  const addresses = new Set<string>();
  const titles: string[] = [];
  page.on('request', (r) => r.method() === 'GET' && !r.url().startsWith('ws') && addresses.add(r.url()));
  await enterDesk(page, 'reviewer');
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() => {
      for (const notice of document.querySelectorAll('section[aria-live] > div'))
        seen.push(notice.textContent ?? '');
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await search(page, product, '1 report');
  await page.getByRole('option').click();
  await expect(page.getByText('secret words')).toBeVisible();
  titles.push(await page.title());
  await page.keyboard.press('2');
  await page.keyboard.press('n');
  await page.keyboard.insertText('secret words of a note');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('listitem').filter({ hasText: 'secret words of a note' })).toBeVisible();
  const notices = await page.evaluate(() => (window as unknown as { seen: string[] }).seen.join());
  expect(notices).toContain('Status: Reviewing');
  expect(notices).not.toMatch(words);
  expect(titles.join()).not.toMatch(words);

  const tab = await context.newPage(); // of the same browser: it closes, too
  await tab.goto(`${deskURL()}/#/reports/${report?.reference}`);
  await expect(tab.getByText('secret words', { exact: true })).toBeVisible();
  await signOut(page);
  for (const each of [page, tab]) {
    await expect(each.getByRole('button', { name: 'Sign in' })).toBeVisible();
    expect(await each.content()).not.toMatch(words);
    expect(each.url()).not.toContain(report?.reference);
  }
  const kept = await page.evaluate(
    async (list) => {
      // only-if-cached never asks the server: it fails for what the cache does not hold.
      const cached = (url: string) =>
        fetch(url, { cache: 'only-if-cached', mode: 'same-origin' })
          .then((r) => r.ok)
          .catch(() => false);
      const found = await Promise.all(list.map(async (url) => ((await cached(url)) ? url : '')));
      return {
        stores: [await caches.keys(), (await indexedDB.databases()).map((d) => d.name)].flat(),
        storage: JSON.stringify([localStorage, sessionStorage]),
        found: found.filter(Boolean),
      };
    },
    [...addresses],
  );
  expect(kept.stores).toEqual([]);
  expect(kept.storage).not.toMatch(words);
  expect(kept.storage).not.toContain('access_token');
  expect(
    kept.found.some((url) => url.includes('/assets/')),
    'the check finds what is cached',
  ).toBe(true);
  expect(kept.found.filter((url) => /\/(rest|storage|auth|functions)\/v1\//.test(url))).toEqual([]);
  await page.goBack().catch(() => null);
  await expect(page.getByText('secret words')).toHaveCount(0);
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
    .upload(name, await drawn(page, 'image/png'), { contentType: 'image/png' });
  expect(stored.error).toBeNull();
  const product = uniqueName('photo');
  await addReports([
    { product_name: product, issue_description: 'x', photo_url: name, photo_metadata: 'removed' },
  ]);
  await enterDesk(page, 'reviewer');
  const ask = (path: string, method: string) =>
    page.evaluate(
      async ([at, how, key]) => {
        const token = JSON.parse(localStorage.getItem('desk-session') ?? '{}').access_token;
        const reply = await fetch(`/storage/v1/object/${at}`, {
          method: how,
          headers: {
            apikey: key ?? '',
            Authorization: `Bearer ${token}`,
            'Content-Type': 'application/json',
          },
          body: how === 'POST' ? '{"expiresIn":315360000}' : undefined,
        });
        return reply.status;
      },
      [path, method, process.env.PUBLISHABLE_KEY],
    );
  const read = () => ask(`report-photos/${name}`, 'GET');
  const sign = () => ask(`sign/report-photos/${name}`, 'POST');
  expect(await read(), 'before the report is opened').toBe(400);
  await search(page, product, '1 report');
  await page.getByRole('option').click();
  const photo = page.getByRole('img', { name: 'Enlarge the photo' });
  await expect(photo).toBeVisible();
  expect(await photo.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(40);
  expect(await read(), 'after it').toBe(200);
  expect(await sign(), 'a link that would outlive the account').toBe(400);
  const shown = await photo.getAttribute('src');
  expect(shown).toMatch(/^blob:/);

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
  const reply = await page.request.get(`${deskURL()}/storage/v1/object/report-photos/${name}`, {
    headers: { apikey: process.env.PUBLISHABLE_KEY ?? '', Authorization: `Bearer ${token}` },
  });
  expect(reply.status(), 'with the token of the ended session').toBe(400);
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
  await page.route('http://evil.example.org/', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<h1>Win!</h1><iframe src="${deskURL()}/"></iframe>` }),
  );
  await page.goto('http://evil.example.org/');
  await expect(page.frameLocator('iframe').getByRole('button')).toHaveCount(0);
  await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
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
