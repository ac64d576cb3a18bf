import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type BrowserContext, expect, type Page } from '@playwright/test';
import type { AuthChangeEvent, Session, SupabaseClient } from '@supabase/supabase-js';
import { admin, uniqueName } from '../stack';

/** What the page below puts into window. */
declare global {
  interface Window {
    client: SupabaseClient;
    seen: AuthChangeEvent[];
  }
}

export const storageKey = 'session';

const library = join(
  dirname(createRequire(import.meta.url).resolve('@supabase/supabase-js')),
  'umd/supabase.js',
);

/** A page with only supabase-js and a list of its events. */
export const application = () => `<!doctype html><link rel="icon" href="data:,"><title>Application</title>
  <script>${readFileSync(library, 'utf8')}</script><script>
    window.seen = [];
    window.client = supabase.createClient(${JSON.stringify(process.env.API_URL)}, ${JSON.stringify(process.env.ANON_KEY)},
      { auth: { storageKey: ${JSON.stringify(storageKey)} } });
    client.auth.onAuthStateChange((event) => seen.push(event));
  </script>`;

/** Serves that page on a port of its own, so that its requests are cross-origin and need CORS. */
export async function serveApplication() {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(application());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** Opens the application in a new tab and waits for its first event. */
export async function open(context: BrowserContext, address: string) {
  const page = await context.newPage();
  await page.goto(address);
  await sees(page, 'INITIAL_SESSION');
  return page;
}

/** Waits until the page has had exactly these events, in order, since it was opened or since the last call. */
export async function sees(page: Page, ...events: AuthChangeEvent[]) {
  await expect.poll(() => page.evaluate(() => window.seen), events.join(', ')).toEqual(events);
  await page.evaluate(() => {
    window.seen.length = 0;
  });
}

export interface Account {
  id: string;
  email: string;
  password: string;
}

/** Creates a confirmed account for one test. */
export async function newAccount(): Promise<Account> {
  const email = `${uniqueName('reader').replace(' ', '.')}@example.org`;
  const password = 'a-long-enough-password';
  const { data, error } = await admin().auth.admin.createUser({ email, password, email_confirm: true });
  if (error) throw error;
  return { id: data.user.id, email, password };
}

export async function signIn(page: Page, { email, password }: Account) {
  await page.evaluate(
    async (credentials) => {
      const { error } = await window.client.auth.signInWithPassword(credentials);
      if (error) throw error;
    },
    { email, password },
  );
}

/** Returns the stored session. */
export function stored(page: Page): Promise<Session | null> {
  return page.evaluate((key) => JSON.parse(localStorage.getItem(key) ?? 'null'), storageKey);
}

/** Makes the stored access token look expired, as after a night in a closed laptop. */
export async function age(page: Page) {
  await page.evaluate((key) => {
    const session = JSON.parse(localStorage.getItem(key) ?? '');
    session.expires_at = Math.floor(Date.now() / 1000) - 60;
    localStorage.setItem(key, JSON.stringify(session));
  }, storageKey);
}

/** Returns the code of an authenticator (RFC 6238) for a base32 secret. */
export function totp(secret: string, at = Date.now()) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
