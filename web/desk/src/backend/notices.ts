import type { NoticeChannel } from '@desk/lib/notice';
import { check, rpc, supabase } from './client';
import type { Report } from './reports';

/** A notice of a report that went to an authority. */
export interface Notice {
  id: number;
  author: string | null;
  author_name: string;
  recipient: string;
  channel: NoticeChannel;
  sent_on: string;
  receipt: string | null; // the number that the authority gave
  created_at: string;
}

/** Records that a notice was sent. The desk itself sends nothing. */
export async function recordNotice(
  report_id: string,
  notice: Pick<Notice, 'recipient' | 'channel' | 'sent_on' | 'receipt'>,
) {
  check((await (await supabase()).from('report_notices').insert({ report_id, ...notice })).error);
}

/** Returns reports for a file to an authority. The trail names each of them. */
export const exportCases = (ids: string[]) =>
  rpc<Omit<Report, 'notes' | 'contacts' | 'notices'>[]>('export_cases', { ids });
