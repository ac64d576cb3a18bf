import type { SupabaseClient } from '@supabase/supabase-js';
import type { Database } from './database.types';
import { fetchWithProgress } from './fetch-with-progress';

export interface Backend {
  url: string;
  publishableKey: string;
}

let backend: Promise<Backend> | undefined;
let client: Promise<SupabaseClient<Database>> | undefined;

/** Where this installation's backend is. Asked once; asked again only after a failure. */
export function findBackend(): Promise<Backend> {
  backend ??= fetch('/site.json').then((response) => {
    if (!response.ok) throw new Error(`/site.json answered ${response.status}`);
    return response.json();
  });
  backend.catch(() => {
    backend = undefined;
  });
  return backend;
}

/** The one client of the page. Its 42 kB are loaded when something is first sent. */
export function supabase(): Promise<SupabaseClient<Database>> {
  client ??= Promise.all([import('@supabase/supabase-js'), findBackend()]).then(
    ([{ createClient }, { url, publishableKey }]) =>
      createClient<Database>(url, publishableKey, { global: { fetch: fetchWithProgress } }),
  );
  client.catch(() => {
    client = undefined;
  });
  return client;
}
