import { randomUUID } from 'node:crypto';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import ws from 'ws';

/** The stack under test, named as in `supabase status -o env`. */
export const stack = {
  url: process.env.SUPABASE_URL?.replace(/\/$/, '') || required('API_URL'),
  anonKey: required('ANON_KEY'),
  serviceKey: required('SERVICE_ROLE_KEY'),
  publishableKey: process.env.PUBLISHABLE_KEY ?? '',
  secretKey: process.env.SECRET_KEY ?? '',
};

function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: eval "$(bin/daawo status -o env)" sets it, export it as well`);
  return value.replace(/\/$/, '');
}

// Node 20 has no WebSocket, and supabase-js needs one even without subscriptions.
const options = {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: ws as unknown as typeof WebSocket },
};

/** A client with the anonymous role, as on every page of the site. */
export const visitor = (key = stack.anonKey): SupabaseClient => createClient(stack.url, key, options);

/** A client with the service role. */
export const service = (): SupabaseClient => createClient(stack.url, stack.serviceKey, options);

/** A client with a session. The site has no accounts, so a session must not give more access than none. */
export async function signedIn(): Promise<SupabaseClient> {
  const email = `${randomUUID()}@example.org`;
  const password = `${randomUUID()}Aa1!`;
  const created = await service().auth.admin.createUser({ email, password, email_confirm: true });
  if (created.error) throw created.error;
  const client = visitor();
  const { error } = await client.auth.signInWithPassword({ email, password });
  if (error) throw error;
  return client;
}

/** The nine fields of a report, with a product name for one test. */
export function report(changes: Record<string, unknown> = {}) {
  return {
    name: null,
    phone: '+252 61 234 5678',
    product_name: `Contract ${randomUUID()}`,
    batch_number: null,
    expiry_date: '2027-01-31',
    where_bought: null,
    issue_description: 'Burning skin after two days',
    location: 'Banaadir, Hodan',
    photo_url: null,
    ...changes,
  };
}

/** Returns a photo name as the site makes it: milliseconds and the original extension. */
let last = Date.now();
export const photoName = (): string => {
  last = Math.max(last + 1, Date.now());
  return `${last}.jpg`;
};

/** A JPEG of one grey pixel. */
export const tinyJpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==',
  'base64',
);
