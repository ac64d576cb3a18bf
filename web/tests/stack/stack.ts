import { randomUUID } from 'node:crypto';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import ws from 'ws';

/** The stack under test, by the names of `supabase status -o env`. */
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

// Node 20 has no WebSocket of its own, and supabase-js asks for one even where nobody subscribes to anything.
const options = {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: ws as unknown as typeof WebSocket },
};

/** A visitor: the anonymous role, as every page of the site is. */
export const visitor = (key = stack.anonKey): SupabaseClient => createClient(stack.url, key, options);

/** The organisation's own programs: the service role. */
export const service = (): SupabaseClient => createClient(stack.url, stack.serviceKey, options);

/** A person with an account. The site has none; a stranger who signs in must not see more than one who does not. */
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

/** The nine fields of a report, with a product name that no other test uses. */
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

/** A file name as the page makes it: milliseconds and the original extension. */
let last = Date.now();
export const photoName = (): string => {
  last = Math.max(last + 1, Date.now());
  return `${last}.jpg`;
};

/** The smallest picture that a decoder accepts as JPEG: one grey pixel. */
export const tinyJpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==',
  'base64',
);
