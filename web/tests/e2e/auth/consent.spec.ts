import { createHash, randomBytes } from 'node:crypto';
import { expect, type Page, test } from '@playwright/test';
import { admin, uniqueName } from '../stack';
import { application, newAccount, signIn } from './page';

/**
 * Another application signs a user in with the project's OAuth server. The consent page of the test uses supabase-js.
 */

const api = `${process.env.API_URL}/auth/v1`;
const back = 'https://clinic.example.net/back';

test.use({ serviceWorkers: 'block' }); // the site's service worker would answer for the consent page

/** Starts the sign-in in the browser. The redirect to the consent page gets the page of the test. */
async function asks(page: Page, question: string) {
  await page.goto(question);
  await page.goto(page.url()); // page.route does not intercept the end of a redirect
  return new URL(page.url()).searchParams.get('authorization_id') ?? '';
}

/** Returns the parameters of the redirect to the application, after its navigation has ended. */
async function comesBack(page: Page) {
  await page.waitForURL((url) => url.href.startsWith(back));
  return new URL(page.url()).searchParams;
}

/** An application with its PKCE verifier (RFC 7636). */
async function newClient() {
  const { data, error } = await admin().auth.admin.oauth.createClient({
    client_name: uniqueName('Clinic'),
    redirect_uris: [back],
    token_endpoint_auth_method: 'client_secret_basic',
  });
  if (error) throw error;
  const verifier = randomBytes(32).toString('base64url');
  const question = new URLSearchParams({
    client_id: data.client_id,
    redirect_uri: back,
    response_type: 'code',
    scope: 'email profile',
    state: 'state-1',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const basic = `Basic ${Buffer.from(`${data.client_id}:${data.client_secret}`).toString('base64')}`;
  const token = async (form: Record<string, string>) => {
    const reply = await fetch(`${api}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: basic },
      body: new URLSearchParams(form),
    });
    return { status: reply.status, ...(await reply.json()) };
  };
  return {
    id: data.client_id,
    name: data.client_name,
    question: `${api}/oauth/authorize?${question}`,
    exchange: (code: string) =>
      token({ grant_type: 'authorization_code', code, redirect_uri: back, code_verifier: verifier }),
    refresh: (refresh_token: string) => token({ grant_type: 'refresh_token', refresh_token }),
  };
}

test('a user grants and revokes the access of an application', async ({ page }) => {
  await page.route('**/oauth/consent?*', (route) =>
    route.fulfill({ contentType: 'text/html', body: application() }),
  );
  await page.route(`${back}?*`, (route) => route.fulfill({ contentType: 'text/html', body: 'Clinic' }));
  const [account, client] = [await newAccount(), await newClient()];

  const name = await asks(page, client.question);
  await signIn(page, account);
  const shown = await page.evaluate(async (id) => {
    const { data, error } = await window.client.auth.oauth.getAuthorizationDetails(id);
    if (error) throw error;
    return data;
  }, name);
  expect(shown).toMatchObject({
    client: { id: client.id, name: client.name },
    user: { id: account.id, email: account.email },
    scope: 'email profile',
    redirect_uri: back,
  });

  let answer = comesBack(page);
  await page.evaluate((id) => void window.client.auth.oauth.approveAuthorization(id), name);
  const granted = await answer;
  expect(granted.get('state')).toBe('state-1');
  const tokens = await client.exchange(granted.get('code') ?? '');
  expect(tokens).toMatchObject({ status: 200, token_type: 'bearer' });
  const person = await fetch(`${api}/oauth/userinfo`, {
    headers: { Authorization: `Bearer ${tokens.access_token}` },
  });
  expect(await person.json()).toMatchObject({ sub: account.id, email: account.email, email_verified: true });
  expect(await client.exchange(granted.get('code') ?? '')).toMatchObject({
    status: 400,
    error: 'invalid_grant',
  });

  // The second time, the consent page redirects immediately.
  const again = await asks(page, client.question);
  const known = await page.evaluate(
    async (id) => (await window.client.auth.oauth.getAuthorizationDetails(id)).data,
    again,
  );
  expect(known).toEqual({ redirect_url: expect.stringContaining(`${back}?code=`) });

  // After the revocation it has no access, and a denied consent is an error.
  const grants = await page.evaluate(async (clientId) => {
    const before = await window.client.auth.oauth.listGrants();
    const { error } = await window.client.auth.oauth.revokeGrant({ clientId });
    if (error) throw error;
    const after = await window.client.auth.oauth.listGrants();
    return [before.data?.map(({ client }) => client.id), after.data];
  }, client.id);
  expect(grants).toEqual([[client.id], []]);
  expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
  const last = await asks(page, client.question);
  answer = comesBack(page);
  await page.evaluate(async (id) => {
    await window.client.auth.oauth.getAuthorizationDetails(id);
    void window.client.auth.oauth.denyAuthorization(id);
  }, last);
  expect((await answer).get('error')).toBe('access_denied');
});
