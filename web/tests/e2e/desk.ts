import { createHmac } from 'node:crypto';
import { expect, type Locator, type Page } from '@playwright/test';
import { admin, uniqueName } from './stack';

export type Role = 'reviewer' | 'editor' | 'owner';

/** The address of the desk of the stack under test. */
export function deskURL() {
  const url = process.env.DESK_URL;
  if (!url) throw new Error('DESK_URL is not set: run with the output of "daawo status -o env"');
  return url;
}

/** Makes an account with a role and returns its address and a one-time link to the desk. */
export async function makeMember(role: Role) {
  const email = `${uniqueName(role).replace(' ', '-')}@example.org`;
  const client = admin();
  const { data, error } = await client.auth.admin.generateLink({ type: 'invite', email });
  if (error) throw error;
  const given = await client.rpc('set_staff_role', { member: data.user.id, role });
  if (given.error) throw given.error;
  const values = new URLSearchParams({ token_hash: data.properties.hashed_token, type: 'invite' });
  return { id: data.user.id, email, link: `${deskURL()}/#/welcome?${values}` };
}

export const password = 'seven goats cross the river';

/** Opens the desk as a new member who has chosen a password. */
export async function enterDesk(page: Page, role: Role, name?: string) {
  const member = await makeMember(role);
  await page.goto(member.link);
  await choosePassword(page, name);
  return member;
}

export async function choosePassword(page: Page, name = 'Hodan Warsame') {
  const named = page.getByLabel('Your name');
  await patiently(page, named, 'Try again');
  await named.fill(name);
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Save' }).click();
  await patiently(page, page.getByRole('navigation'), 'Save');
  await expect(page).toHaveURL(/#\/\w/); // the way to the first screen must not overtake the test's
}

/**
 * Waits for a sign of the next screen, and presses a button again when the server took too long. A password is hashed
 * on purpose for long, several tests sign in at the same time, and the server gives a request up after ten seconds.
 */
async function patiently(page: Page, sign: Locator, button: string) {
  const tooLong = page.getByRole('alert').filter({ hasText: 'The server took too long.' });
  await expect(async () => {
    await expect(sign.or(tooLong)).toBeVisible();
    if (await tooLong.isVisible()) await page.getByRole('button', { name: button }).click();
    await expect(sign).toBeVisible({ timeout: 1 });
  }).toPass();
}

/** Returns the code of an authenticator app (RFC 6238) for a secret in base 32. */
export function totp(secret: string, at = Date.now()) {
  const bits = [...secret]
    .map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((b) => Number.parseInt(b, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const hash = createHmac('sha1', key).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** Adds reports with the given values through the database. */
export async function addReports(
  rows: Record<string, unknown>[],
): Promise<{ id: string; reference: string }[]> {
  const { data, error } = await admin().from('reports').insert(rows).select('id, reference');
  if (error) throw error;
  return data;
}

/** Returns the link of the mail that invites an address. */
export async function invitationLink(email: string) {
  return (await mailTo(email)).link;
}

/** Returns the subject, the link and the code of the newest mail to an address. */
export async function mailTo(email: string, after = '') {
  let found = { id: '', subject: '', link: '', code: '' };
  await expect(async () => {
    const list = await (await fetch(`${process.env.MAILPIT_URL}/api/v1/messages?limit=200`)).json();
    const line = list.messages.find(
      (m: { ID: string; To: { Address: string }[] }) =>
        m.ID !== after && m.To.some((to) => to.Address === email),
    );
    const message = await (await fetch(`${process.env.MAILPIT_URL}/api/v1/message/${line.ID}`)).json();
    const words: string = message.Text || message.HTML;
    const link = /https?:\/\/\S+\/auth\/v1\/verify[^\s"<>]+/.exec(words)?.[0].replaceAll('&amp;', '&') ?? '';
    expect(link).not.toBe('');
    found = {
      id: line.ID,
      subject: message.Subject,
      link,
      code: /\b\d{6}\b/.exec(words.replace(link, ''))?.[0] ?? '',
    };
  }).toPass();
  return found;
}

/** Searches the inbox, and waits for the number of reports that it shows. */
export async function search(page: Page, words: string, count: string) {
  const found = page.waitForResponse(
    (r) => r.url().endsWith('/rpc/list_reports') && (r.request().postData() ?? '').includes(words),
  );
  await page.getByRole('searchbox').fill(words);
  await page.getByRole('searchbox').press('Enter');
  await found; // the number may be that of the unfiltered list by chance
  await expect(page.getByText(count, { exact: true })).toBeVisible();
}
