import type { SupabaseClient } from '@supabase/supabase-js';
import { inTime, sendingTimeout } from '@/lib/in-time';
import { loadOnce } from '@/lib/load-once';
import type { Database } from './database.types';
import { uploadFetch } from './upload-fetch';

export interface Backend {
  url: string;
  publishableKey: string;
}

/** Milliseconds after which a read is given up: on a dead connection a request neither succeeds nor fails. */
export const readTimeout = 10_000;

/** Returns the address of this installation's backend. It is requested once, and again only after a failure. */
export const findBackend = loadOnce(async (): Promise<Backend> => {
  const response = await fetch('/site.json', { signal: AbortSignal.timeout(readTimeout) });
  if (!response.ok) throw new Error(`/site.json answered ${response.status}`);
  return response.json();
});

/**
 * Returns the page's only client and the function that reports the progress of its uploads. Loads 42 kB when first
 * called.
 */
export const connect = loadOnce(async () => {
  const [{ createClient }, { url, publishableKey }] = await Promise.all([
    inTime(import('@supabase/supabase-js'), sendingTimeout, 'The import of the client'),
    findBackend(),
  ]);
  const { fetch, watchUpload } = uploadFetch();
  const client: SupabaseClient<Database> = createClient<Database>(url, publishableKey, { global: { fetch } });
  return { client, watchUpload };
});

export async function supabase(): Promise<SupabaseClient<Database>> {
  return (await connect()).client;
}
