import { expect } from '@playwright/test';
import { createClient } from '@supabase/supabase-js';

/** Returns a setting of the stack under test, named as in `daawo status -o env`. */
function setting(name: string) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run with the output of "daawo status -o env"`);
  return value;
}

class NoSocket extends EventTarget {}

/** A client with the service role. */
export function admin() {
  return createClient(setting('API_URL'), setting('SERVICE_ROLE_KEY'), {
    auth: { persistSession: false },
    realtime: { transport: NoSocket as never }, // Node 20 has no WebSocket, and no test uses Realtime
  });
}

export async function reportBy(reference: string) {
  const { data, error } = await admin().from('reports').select('*').eq('reference', reference);
  if (error) throw error;
  expect(data, `one report with the reference ${reference}`).toHaveLength(1);
  return data[0];
}

export async function reportsNamed(productName: string) {
  const { data, error } = await admin().from('reports').select('*').eq('product_name', productName);
  if (error) throw error;
  return data;
}

export async function storedPhoto(name: string) {
  const { data, error } = await admin().storage.from('report-photos').download(name);
  if (error) throw error;
  return Buffer.from(await data.arrayBuffer());
}

interface Mail {
  Subject: string;
  Snippet: string;
}

/** Returns the mails in the development inbox with the reference in their subject. */
export async function mailsAbout(reference: string): Promise<Mail[]> {
  const response = await fetch(`${setting('MAILPIT_URL')}/api/v1/messages?limit=200`);
  const { messages } = (await response.json()) as { messages: Mail[] };
  return messages.filter(({ Subject }) => Subject.includes(reference));
}

/** Returns a product name for one test. */
export function uniqueName(what: string) {
  return `${what} ${Date.now().toString(36)}${Math.random().toString(36).slice(2, 7)}`;
}
