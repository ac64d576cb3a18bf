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

/** The message of a request without a reply. Browsers have different texts for it. */
export const noReply = 'no reply from the server';

/** Fetches without the browser's cache, and throws a TypeError with noReply if the network or the server fails. */
async function request(input: RequestInfo | URL, init?: RequestInit) {
  const signal = init?.signal ?? AbortSignal.timeout(requestTimeout);
  try {
    return await fetch(input, { ...init, cache: 'no-store', signal });
  } catch (error) {
    if (init?.signal?.aborted) throw error; // the caller gave up
    throw new TypeError(noReply, { cause: error });
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
  const response = await request('/site.json');
  if (!response.ok) throw new Error(`/site.json answered ${response.status}`);
  const { publishableKey } = (await response.json()) as { publishableKey: string };
  // The API is on this page's own origin, also if the page was opened through a tunnel or under another name.
  return createClient(location.origin, publishableKey, {
    auth: { storageKey: 'desk-session', flowType: 'implicit', detectSessionInUrl: true },
    global: { fetch: request },
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
