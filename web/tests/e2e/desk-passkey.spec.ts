import { expect, type Page, test } from '@playwright/test';
import { choosePassword, deskURL, makeMember, password } from './desk';

// WebAuthn needs a host name.
const named = (url: string) => url.replace('//127.0.0.1:', '//localhost:');

/** Gives the browser an authenticator that always agrees. */
async function virtualAuthenticator(page: Page) {
  const authenticator = await page.context().newCDPSession(page);
  await authenticator.send('WebAuthn.enable');
  const { authenticatorId } = await authenticator.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { authenticator, authenticatorId };
}

/** Returns the claims of the session's token. */
const claimsOf = (page: Page) =>
  page.evaluate(() =>
    JSON.parse(
      atob(
        JSON.parse(localStorage.getItem('desk-session') ?? '{}')
          .access_token.split('.')[1]
          .replace(/-/g, '+')
          .replace(/_/g, '/'),
      ),
    ),
  );

test('a passkey is added, and is the second step of the next sign-in', async ({ page }) => {
  const { authenticator, authenticatorId } = await virtualAuthenticator(page);
  const member = await makeMember('owner');
  await page.goto(named(member.link));
  await choosePassword(page);
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Passkey' })).toBeVisible();
  const { credentials } = await authenticator.send('WebAuthn.getCredentials', { authenticatorId });
  expect(credentials).toHaveLength(1);
  expect(credentials[0]?.rpId).toBe('localhost');

  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByLabel('E-mail').fill(member.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Second step' })).toBeVisible();

  // A device that does not hold the passkey gets no further.
  await authenticator.send('WebAuthn.clearCredentials', { authenticatorId });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(page.getByRole('navigation')).toHaveCount(0);

  const credential = credentials[0];
  if (!credential) throw new Error('no credential');
  await authenticator.send('WebAuthn.addCredential', { authenticatorId, credential });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  const claims = await claimsOf(page);
  expect(claims.aal).toBe('aal2');
  expect(claims.amr.map((m: { method: string }) => m.method)).toContain('mfa/webauthn');
  expect(new URL(page.url()).origin).toBe(new URL(named(deskURL())).origin);
});

test('a passkey takes the place of the password at the first entry', async ({ page }) => {
  await virtualAuthenticator(page);
  const member = await makeMember('owner');
  await page.goto(named(member.link));
  await page.getByLabel('Your name').fill('Hodan Warsame');
  await page.getByRole('button', { name: 'Use a passkey of this device instead' }).click();
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible();
  expect((await claimsOf(page)).aal).toBe('aal2');
  await page.getByRole('link', { name: 'Account' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Passkey' })).toBeVisible();
});
