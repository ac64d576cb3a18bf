import { noReply } from '@desk/lib/no-reply';
import { createClient } from '@supabase/supabase-js';
import { loadOnce } from '@/lib/load-once';

/** Milliseconds after which a request is given up. */
const requestTimeout = 30_000;

/** The key of the session in localStorage. */
export const sessionKey = 'desk-session';

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

/**
 * Fetches without the browser's cache, and throws a TypeError with noReply if the network or the
 * server fails.
 */
async function request(input: RequestInfo | URL, init?: RequestInit) {
  const signal = init?.signal ?? AbortSignal.timeout(requestTimeout);
  try {
    return await fetch(input, { ...init, cache: 'no-store', signal });
  } catch (error) {
    if (init?.signal?.aborted) throw error; // the caller gave up
    throw new TypeError(noReply, { cause: error });
  }
}

/**
 * Returns the page's only client, which acts as the signed-in person: the page holds no other key
 * than the publishable one. Replies are not kept in the browser's cache, so that nothing of a
 * report is left after sign-out.
 */
export const supabase = loadOnce(async () => {
  const response = await request('/site.json');
  if (!response.ok) throw new Error(`/site.json answered ${response.status}`);
  const { publishableKey } = (await response.json()) as { publishableKey: string };
  // The API is on this page's own origin, also if the page was opened through a tunnel or under
  // another name.
  return createClient(location.origin, publishableKey, {
    auth: { storageKey: sessionKey, flowType: 'implicit', detectSessionInUrl: true },
    global: { fetch: request },
  });
});

/** Calls a function of the database as the signed-in person. */
export async function rpc<T>(name: string, args: Record<string, unknown> = {}): Promise<T> {
  const { data, error } = await (await supabase()).rpc(name, args);
  if (error) throw new ApiError(error.message, error.code);
  return data as T;
}

/** Throws the error of a reply, if it has one. */
export function check(error: { message: string; code?: string; status?: number } | null) {
  if (!error) return;
  // supabase-js shows a reply that it does not know as {}, and drops the code of a server's failure.
  const code = error.code ?? serverFailure(error.status);
  throw new ApiError(error.message === '{}' ? code || 'unexpected reply' : error.message, code);
}

/** Returns GoTrue's code for a status of a failure of the server, or '' for another one. */
function serverFailure(status = 0) {
  if (status < 500) return '';
  return status === 503 || status === 504 ? 'request_timeout' : 'unexpected_failure';
}

/** Reports whether a request may succeed later as it is: its error does not refuse it. */
export const mayPass = (error: unknown) =>
  !(error instanceof ApiError) ||
  ['', 'request_timeout', 'unexpected_failure', 'over_request_rate_limit'].includes(error.code);

/**
 * Calls an edge function as the signed-in person. An error has the message and the code of the
 * reply.
 */
export async function invoke<T>(name: string, body: object, signal?: AbortSignal): Promise<T> {
  const { data, error } = await (await supabase()).functions.invoke(name, { body, signal });
  if (error) {
    const reply = await (error.context as Response | undefined)?.json?.().catch(() => null);
    throw new ApiError(reply?.message ?? error.message, reply?.code ?? '');
  }
  return data as T;
}
