import { noReply } from '@desk/lib/no-reply';

/** Returns an error as one line, in the reader's language if the server did not reply. */
export function message(error: unknown, text: { noReply: string }) {
  const line = error instanceof Error ? error.message : String(error);
  return line.includes(noReply) ? text.noReply : line; // the client library puts the error's class in front
}
