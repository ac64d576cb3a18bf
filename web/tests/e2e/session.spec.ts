import { expect, live, onSlowConnection, test } from './fixtures';
import { admin } from './stack';

/** A text that only the code of the whole client contains. */
function watchForClient(page: import('@playwright/test').Page) {
  const seen: string[] = [];
  page.on('response', async (response) => {
    if (!response.url().includes('/assets/')) return;
    const body = await response.text().catch(() => '');
    if (body.includes('TOKEN_REFRESHED')) seen.push(response.url());
  });
  return seen;
}

test.beforeEach(({ page }) => onSlowConnection(page));

test('a page without a session does not load the client', async ({ page }) => {
  const client = watchForClient(page);
  await page.goto('/resources/');
  await live(page);
  await page.getByRole('listitem').getByRole('button').first().waitFor();
  expect(client).toEqual([]);
});

test('a session in the address is restored and stored', async ({ page, baseURL }) => {
  const email = `reader${Date.now()}@example.org`;
  const password = 'a-long-enough-password';
  const created = await admin().auth.admin.createUser({ email, password, email_confirm: true });
  expect(created.error).toBeNull();
  const { data } = await admin().auth.signInWithPassword({ email, password });
  const { access_token = '', refresh_token = '', expires_in = 3600 } = data.session ?? {};

  const fragment = new URLSearchParams({
    access_token,
    refresh_token,
    expires_in: String(expires_in),
    token_type: 'bearer',
    type: 'magiclink',
  });
  await page.goto(`/about/#${fragment}`);
  const key = () =>
    page.evaluate(() => Object.keys(localStorage).find((name) => /^sb-.+-auth-token$/.test(name)));
  await expect.poll(key).toBeTruthy();
  expect(await key()).toContain(new URL(baseURL ?? '').hostname.split('.')[0]);
  await expect(page).not.toHaveURL(/access_token/);

  // The next page reads it from storage and sends its access token.
  const request = page.waitForRequest((sent) => sent.url().includes('/rest/v1/resources'));
  await page.goto('/resources/');
  expect((await request).headers().authorization).toMatch(/^Bearer ey/);
  await page.getByRole('listitem').getByRole('button').first().waitFor();
});
