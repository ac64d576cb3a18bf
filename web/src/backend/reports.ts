import type { Language } from '@/i18n/language';
import type { Report } from '@/screens/report/report';
import { supabase } from './client';

export interface Receipt {
  id: string;
  /** Short and readable aloud, such as DW-7K3M-9QXA. */
  reference: string;
  received_at: string;
  /** False when a photo was named but could not be attached. */
  photo_attached?: boolean;
}

/** The function's own words for why it refused, in the reader's language. */
export class Refusal extends Error {
  override name = 'Refusal';
}

/** Longer than the function may take, with a slow line's minute: then the answer is taken for lost. */
const patience = 90_000;

/** Sends a report. The same key with the same report is stored once, however often it is sent. */
export async function sendReport(report: Report, key: string, language: Language): Promise<Receipt> {
  const client = await supabase();
  const { data, error } = await client.functions.invoke<Receipt>('submit-report', {
    body: report,
    headers: { 'Idempotency-Key': key, 'Accept-Language': language },
    timeout: patience,
  });
  if (error) throw await refusalOf(error);
  if (!data) throw new Error('submit-report answered without a receipt');
  return data;
}

/**
 * The client's own message is always the same; the function's is in the response and names its language. What the
 * gateway or the functions' host says, which is for their operator, does not, or carries a code of its own.
 */
async function refusalOf(error: Error & { context?: unknown }): Promise<Error> {
  if (!(error.context instanceof Response)) return error;
  const { headers } = error.context;
  if (!headers.has('content-language') || headers.has('sb-error-code')) return error;
  const body = await error.context.json().catch(() => undefined);
  return typeof body?.message === 'string' ? new Refusal(body.message) : error;
}
