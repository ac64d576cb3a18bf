// Written by `daawo gen types --functions`; the functions are the source.

import type { SupabaseClient } from '@supabase/supabase-js';

/** The JSON of an error: a code for programs, a sentence for people, messages by field. */
export type FunctionError = { code: string; message: string; fields?: Record<string, string> };

type Untyped = SupabaseClient['functions'];
type Options = Omit<NonNullable<Parameters<Untyped['invoke']>[1]>, 'body' | 'method'>;
type Result<Reply> = { data: Reply; error: null; response?: Response } | { data: null; error: Error; response?: Response };

/** The functions of supabase-js with the types of each function's body and reply. */
export interface TypedFunctions {
  invoke<Name extends keyof Functions>(
    name: Name,
    ...options: Functions[Name]['Body'] extends undefined
      ? [options?: Options & { method?: Functions[Name]['Method']; body?: undefined }]
      : [options: Options & { method?: Functions[Name]['Method']; body: Functions[Name]['Body'] }]
  ): Promise<Result<Functions[Name]['Reply']>>;
}

/** Returns the functions of a client with their types: functionsOf(supabase).invoke('name', { body }). */
export const functionsOf = (client: { functions: Untyped }) => client.functions as unknown as TypedFunctions;

export type Functions = {
  'submit-report': { Method: 'POST'; Body: SubmitReportRequest; Reply: SubmitReportReply };
  'track-download': { Method: 'POST'; Body: TrackDownloadRequest; Reply: TrackDownloadReply };
};

export type SubmitReportReply = {
  id: string;
  /** False when the photo could not be attached. */
  photo_attached?: boolean;
  received_at: string;
  /** Short and readable aloud, such as DW-7K3M-9QXA. */
  reference: string;
};

export type SubmitReportRequest = {
  batch_number?: string | null;
  expiry_date?: string | null;
  issue_description: string;
  location?: string | null;
  name?: string | null;
  phone?: string | null;
  /** Name of the uploaded file in the bucket of the photos. */
  photo_url?: string | null;
  product_name: string;
  where_bought?: string | null;
};

export type TrackDownloadReply = {
  /** Downloads of the resource so far, this one included. */
  download_count: number;
};

export type TrackDownloadRequest = {
  resourceId: string;
};
