import { createClient, type SupabaseClient } from '@supabase/supabase-js';

/** Milliseconds after which a request is given up. */
const requestTimeout = 30_000;

/** An error reply of the API, with its SQLSTATE or code. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

let client: Promise<SupabaseClient> | undefined;

/**
 * Returns the page's only client. It acts as the person who is signed in: the page holds no other key than the publishable
 * one. Replies are not kept in the browser's cache, so that nothing of a report is left after sign-out.
 */
export function supabase(): Promise<SupabaseClient> {
  client ??= connect().catch((error) => {
    client = undefined;
    throw error;
  });
  return client;
}

async function connect() {
  const response = await fetch('/site.json', {
    cache: 'no-store',
    signal: AbortSignal.timeout(requestTimeout),
  });
  if (!response.ok) throw new Error(`/site.json answered ${response.status}`);
  const { publishableKey } = (await response.json()) as { publishableKey: string };
  // The API is on this page's own origin, also if the page was opened through a tunnel or under another name.
  return createClient(location.origin, publishableKey, {
    auth: { storageKey: 'desk-session', flowType: 'implicit', detectSessionInUrl: true },
    global: {
      fetch: (input, init) =>
        fetch(input, {
          ...init,
          cache: 'no-store',
          signal: init?.signal ?? AbortSignal.timeout(requestTimeout),
        }),
    },
  });
}

/** Calls a function of the database as the person who is signed in. */
export async function rpc<T>(name: string, args: Record<string, unknown> = {}): Promise<T> {
  const { data, error } = await (await supabase()).rpc(name, args);
  if (error) throw new ApiError(error.message, error.code);
  return data as T;
}

/** Throws the error of a reply, if it has one. */
export function check(error: { message: string; code?: string } | null) {
  if (!error) return;
  // supabase-js shows a reply that it does not know as {}.
  throw new ApiError(
    error.message === '{}' ? error.code || 'unexpected reply' : error.message,
    error.code ?? '',
  );
}
