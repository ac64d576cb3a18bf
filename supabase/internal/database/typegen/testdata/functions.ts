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
  'add-note': { Method: 'POST'; Body: AddNoteRequest; Reply: AddNote_noteReply };
  ping: { Method: 'GET'; Body: undefined; Reply: undefined };
};

export type AddNote_noteReply = {
  id: number;
  parent?: AddNote_noteReply | null;
};

export type AddNoteRequest = {
  anything?: unknown;
  colour?: 'red' | 'it\'s green' | null;
  done?: boolean;
  labels?: Record<string, number>;
  place?: {
    lat?: number;
    'long-name'?: string;
  };
  tags?: (string | null)[] | null;
  /** What to remember. */
  text: string;
};
