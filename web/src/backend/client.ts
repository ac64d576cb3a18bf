import type { SupabaseClient } from '@supabase/supabase-js';
import type { Database } from './database.types';
import { fetchWithProgress } from './fetch-with-progress';

export interface Backend {
  url: string;
  publishableKey: string;
}

/** On a dead line nothing answers and nothing fails: after so many milliseconds what is read is taken for lost. */
export const patience = 10_000;

let backend: Promise<Backend> | undefined;
let client: Promise<SupabaseClient<Database>> | undefined;

/** Where this installation's backend is. Asked once; asked again only after a failure. */
export function findBackend(): Promise<Backend> {
  backend ??= fetch('/site.json', { signal: AbortSignal.timeout(patience) }).then((response) => {
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
