import type { Channel, ContactOutcome } from '@desk/lib/contact';
import { check, supabase } from './client';

/** A call or a message to the person of a report, and what came of it. */
export interface Contact {
  id: number;
  author: string | null;
  author_name: string;
  channel: Channel;
  outcome: ContactOutcome;
  template: string | null;
  body: string | null;
  created_at: string;
}

/** Logs a contact. The desk itself sends nothing. */
export async function logContact(
  report_id: string,
  contact: Pick<Contact, 'channel' | 'outcome' | 'template' | 'body'>,
) {
  check((await (await supabase()).from('report_contacts').insert({ report_id, ...contact })).error);
}
