import { supabase } from './client';
import { functionsOf, type SubmitReportReply, type SubmitReportRequest } from './functions.types';

/**
 * The body of submit-report: exactly the nine fields of a report. `expiry_date` is yyyy-MM-dd, `location` the region's name
 * alone or 'region, district', `photo_url` the stored file's name.
 */
export type Report = Required<SubmitReportRequest>;

/** The reply of submit-report. */
export type Receipt = SubmitReportReply;

/** An error whose message is the function's own, in the language of the page. */
export class Refusal extends Error {
  override name = 'Refusal';

  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** Milliseconds after which a reply counts as lost: the function's own timeout and a minute for a slow connection. */
const replyTimeout = 90_000;

/** What is sent besides the report. */
export interface Sending {
  /** The backend stores a report once per key, however often it is sent. */
  key: string;
  language: string;
  /** The claim with which the photo was uploaded. */
  claim?: string;
  signal?: AbortSignal;
}

/** Sends a report. */
export async function sendReport(
  report: Report,
  { key, language, claim, signal }: Sending,
): Promise<Receipt> {
  const client = await supabase();
  const { data, error } = await functionsOf(client).invoke('submit-report', {
    body: report,
    headers: {
      'Idempotency-Key': key,
      'Accept-Language': language,
      ...(report.photo_url && claim && { 'Photo-Claim': claim }),
    },
    signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(replyTimeout)]) : undefined,
    timeout: replyTimeout,
  });
  if (error) throw await refusalOf(error);
  if (!data) throw new Error('submit-report answered without a receipt');
  return data;
}

/**
 * Returns the message of the function, if the reply has one: the message of supabase-js itself is always the same.
 * Messages of the gateway or the function host are in English, for operators; those replies have no Content-Language or
 * have an sb-error-code.
 */
async function refusalOf(error: Error & { context?: unknown }): Promise<Error> {
  if (!(error.context instanceof Response)) return error;
  const { headers } = error.context;
  if (!headers.has('content-language') || headers.has('sb-error-code')) return error;
  const body = await error.context.json().catch(() => undefined);
  return typeof body?.message === 'string' ? new Refusal(body.message, body.code) : error;
}
