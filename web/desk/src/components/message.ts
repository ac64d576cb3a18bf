import { noReply } from '@desk/lib/no-reply';

interface Texts {
  noReply: string;
  errors: Record<string, string | undefined>; // by the code of a reply
}

/** Returns an error as one line in the reader's language. Errors that it does not know stay as they are. */
export function message(error: unknown, text: Texts) {
  const line = error instanceof Error ? error.message : String(error);
  if (line.includes(noReply)) return text.noReply; // the client library puts the error's class in front
  const code = (error as { code?: unknown } | null)?.code;
  return (typeof code === 'string' && text.errors[code]) || line;
}
