import { expect, type Page, test } from '@playwright/test';
import { admin } from '../stack';
import { type Account, age, newAccount, open, sees, serveApplication, signIn, stored, totp } from './page';

/** supabase-js in a browser on another origin than the stack: its events and its stored session. */

let application: Awaited<ReturnType<typeof serveApplication>>;
let account: Account;

test.beforeAll(async () => {
  application = await serveApplication();
});
test.afterAll(() => application.server.close());
test.beforeEach(async () => {
  account = await newAccount();
});

/** Revokes every session of the account, as an administrator or another device does. */
async function revokeElsewhere(page: Page) {
  const { error } = await admin().auth.admin.signOut((await stored(page))?.access_token ?? '', 'global');
  expect(error).toBeNull();
}

test('every event fires once', async ({ context }) => {
  const page = await open(context, application.address);
  await signIn(page, account);
  await sees(page, 'SIGNED_IN');

  const before = await stored(page);
  await page.evaluate(() => window.client.auth.refreshSession());
  await sees(page, 'TOKEN_REFRESHED');
  expect((await stored(page))?.refresh_token).not.toBe(before?.refresh_token);

  await page.evaluate(() => window.client.auth.updateUser({ data: { language: 'so' } }));
  await sees(page, 'USER_UPDATED');
  expect((await stored(page))?.user.user_metadata.language).toBe('so');

  const factor = await page.evaluate(async () => {
    const { data, error } = await window.client.auth.mfa.enroll({ factorType: 'totp' });
    if (error) throw error;
    return { id: data.id, secret: data.totp.secret, image: data.totp.qr_code };
  });
  expect(factor.image).toMatch(/^data:image\/svg\+xml;utf-8,<svg/);
  const level = await page.evaluate(
    async ({ id, code }) => {
      const { error } = await window.client.auth.mfa.challengeAndVerify({ factorId: id, code });
      if (error) throw error;
      return (await window.client.auth.mfa.getAuthenticatorAssuranceLevel()).data?.currentLevel;
    },
    { id: factor.id, code: totp(factor.secret) },
  );
  await sees(page, 'MFA_CHALLENGE_VERIFIED');
  expect(level).toBe('aal2');

  await page.evaluate(() => window.client.auth.signOut());
  await sees(page, 'SIGNED_OUT');
  expect(await stored(page)).toBeNull();
});

test('a session that expired in a closed tab is refreshed when it opens', async ({ context }) => {
  const page = await open(context, application.address);
  await signIn(page, account);
  const before = await stored(page);
  await age(page);
  await page.reload();
  await sees(page, 'TOKEN_REFRESHED', 'INITIAL_SESSION');
  const after = await stored(page);
  expect(after?.refresh_token).not.toBe(before?.refresh_token);
  expect(after?.user.id).toBe(account.id);
  expect((after?.expires_at ?? 0) * 1000).toBeGreaterThan(Date.now());
});

test('a revoked session is removed and signs out', async ({ context }) => {
  const page = await open(context, application.address);
  await signIn(page, account);
  await revokeElsewhere(page);
  await age(page);
  await page.reload();
  await sees(page, 'SIGNED_OUT', 'INITIAL_SESSION');
  expect(await stored(page)).toBeNull();
});

test('two tabs share one session', async ({ context }) => {
  const one = await open(context, application.address);
  const other = await open(context, application.address);
  await signIn(one, account);
  await sees(other, 'SIGNED_IN');
  const own = await other.evaluate(async () => (await window.client.auth.getSession()).data.session);
  expect(own?.refresh_token).toBe((await stored(one))?.refresh_token);

  // Both refresh the expired session with one token. Both keep the same session.
  await age(one);
  const tabs = [one, other];
  const token = async (tab: Page) =>
    tab.evaluate(async () => (await window.client.auth.getSession()).data.session?.refresh_token);
  await Promise.all(tabs.map(token));
  const kept = (await stored(one))?.refresh_token;
  expect(kept).not.toBe(own?.refresh_token);
  for (const tab of tabs) {
    expect(await token(tab)).toBe(kept);
    expect(await tab.evaluate(async () => (await window.client.auth.getUser()).data.user?.id)).toBe(
      account.id,
    );
    expect(await tab.evaluate(() => window.seen)).not.toContain('SIGNED_OUT');
  }

  await one.evaluate(() => window.client.auth.signOut());
  await expect.poll(() => other.evaluate(() => window.seen.at(-1))).toBe('SIGNED_OUT');
  expect(await other.evaluate(async () => (await window.client.auth.getSession()).data.session)).toBeNull();
});

test('signing out succeeds without session, account or key', async ({ context }) => {
  const signsOut = async (page: Page) => {
    const answered = page.waitForResponse((response) => response.url().includes('/auth/v1/logout'));
    expect(await page.evaluate(async () => (await window.client.auth.signOut()).error)).toBeNull();
    await sees(page, 'SIGNED_OUT');
    expect(await stored(page)).toBeNull();
    return (await answered).status();
  };
  const page = await open(context, application.address);
  const signedIn = async () => {
    await signIn(page, account);
    await sees(page, 'SIGNED_IN');
  };

  await signedIn();
  await revokeElsewhere(page);
  expect(await signsOut(page)).toBe(403); // session_not_found

  for (const status of [401, 404]) {
    await signedIn();
    await page.route('**/auth/v1/logout**', (route) =>
      route.fulfill({
        status,
        headers: { 'access-control-allow-origin': '*' },
        json: { code: status, error_code: 'unknown', msg: 'gone' },
      }),
    );
    expect(await signsOut(page)).toBe(status);
    await page.unroute('**/auth/v1/logout**');
  }

  await signedIn();
  expect((await admin().auth.admin.deleteUser(account.id)).error).toBeNull();
  expect(await signsOut(page)).toBe(403); // user_not_found
});
