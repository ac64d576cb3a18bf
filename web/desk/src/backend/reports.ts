import type { RealtimeChannel } from '@supabase/supabase-js';
import { check, rpc, supabase } from './client';

export const statuses = ['new', 'reviewing', 'actioned', 'closed'] as const;
export type Status = (typeof statuses)[number];

export interface Row {
  id: string;
  reference: string;
  status: Status;
  product_name: string;
  region: string | null;
  district: string | null;
  language: 'en' | 'so';
  has_photo: boolean;
  assigned_to: string | null;
  possible_duplicate: boolean;
  notes: number;
  created_at: string;
}

export interface Note {
  id: number;
  author: string | null;
  author_name: string;
  body: string;
  created_at: string;
}

export interface Similar {
  id: string;
  reference: string;
  status: Status;
  product_name: string;
  region: string | null;
  district: string | null;
  created_at: string;
  likely: boolean;
}

export interface Report {
  id: string;
  reference: string;
  status: Status;
  product_name: string;
  batch_number: string | null;
  expiry_date: string | null;
  where_bought: string | null;
  issue_description: string;
  location: string | null;
  region: string | null;
  district: string | null;
  photo_url: string | null;
  photo_metadata: 'pending' | 'removed' | 'kept' | null;
  name: string | null;
  phone: string | null;
  phone_e164: string | null;
  language: 'en' | 'so';
  assigned_to: string | null;
  duplicate_of: string | null; // a reference
  reviewer_notes: string | null;
  created_at: string;
  first_action_at: string | null;
  notes: Note[];
  similar: Similar[];
}

export interface Filter {
  status?: Status[];
  region?: string;
  product?: string;
  since?: string;
  until?: string;
  photo?: true;
  mine?: true;
  search?: string;
}

/** Rows of the first page: more than a screen shows, and 10 kB. On a slow line each kilobyte more is seen. */
export const firstSize = 30;
export const pageSize = 100;
/** Rows of a page after the first thousand: for people who go through all reports. */
export const largePage = 500;

/** Returns the newest reports of a filter, or those after the row last. */
export const listReports = (filter: Filter, most: number, last?: Row) =>
  rpc<Row[]>('list_reports', { filter, before: last?.created_at, before_id: last?.id, most });

export const countReports = (filter: Filter) =>
  rpc<Partial<Record<Status, number>>>('count_reports', { filter });

/** Reads a whole report. The trail names the reader. */
export const readReport = (reference: string) => rpc<Report>('read_report', { name: reference });

export type Change = Partial<{ status: Status; assigned_to: string | null; duplicate_of: string | null }>;

export async function changeReport(id: string, change: Change) {
  const { data, error } = await (await supabase()).from('reports').update(change).eq('id', id).select('id');
  check(error);
  if (data?.length !== 1) check({ message: 'not allowed', code: '42501' });
}

export async function addNote(id: string, body: string) {
  check((await (await supabase()).from('report_notes').insert({ report_id: id, body })).error);
}

export interface Forwarded {
  reference: string;
  created_at: string;
  product_name: string;
  batch_number: string | null;
  expiry_date: string | null;
  region: string | null;
  district: string | null;
}

export const forwardReport = (reference: string) => rpc<Forwarded>('forward_report', { name: reference });

/** Deletes a report, then its photo. If the photo cannot be reached now, the hourly clean-up removes it. */
export async function deleteReport(reference: string, reason: string) {
  const photo = await rpc<string | null>('delete_report', { name: reference, reason });
  if (photo) await (await supabase()).storage.from('report-photos').remove([photo]);
}

/** Returns the photo's content. Its address is valid for one minute and is not shown. */
export async function fetchPhoto(name: string): Promise<Blob> {
  const { data, error } = await (await supabase()).storage.from('report-photos').createSignedUrl(name, 60);
  check(error);
  const response = await fetch(data?.signedUrl ?? '', {
    cache: 'no-store',
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok) throw new Error(`the photo answered ${response.status}`);
  return response.blob();
}

/** Returns all reports of a period with every field, for owners. The trail keeps the export. */
export async function exportReports(since?: string, until?: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  let after: unknown;
  for (;;) {
    const page = await rpc<Record<string, unknown>[]>('export_reports', { since, until, after, most: 500 });
    all.push(...page);
    if (page.length < 500) return all;
    after = page.at(-1)?.id;
  }
}

/**
 * Calls changed after each insert and update of a report, and live with whether such messages arrive. Without Realtime the
 * page refreshes by itself; after a failure it tries again every five minutes.
 */
export function watchReports(changed: () => void, live: (joined: boolean) => void): () => void {
  let channel: RealtimeChannel | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const join = async () => {
    const client = await supabase();
    if (stopped) return;
    channel = client
      .channel('reports')
      .on('postgres_changes', { event: '*', schema: 'public', table: 'reports' }, changed)
      // Changes arrive from this message on, not from the join; it follows within a second. Reports between are fetched.
      .on('system', {}, (message: { extension?: string; status?: string }) => {
        if (stopped || message.extension !== 'postgres_changes') return;
        live(message.status === 'ok');
        changed();
      })
      .subscribe((status) => {
        if (stopped) return;
        if (status !== 'SUBSCRIBED') live(false);
        if (status === 'CHANNEL_ERROR' || status === 'TIMED_OUT') {
          if (channel) void client.removeChannel(channel);
          client.realtime.disconnect();
          clearTimeout(retry);
          retry = setTimeout(join, 300_000);
        }
      });
  };
  void join();
  return () => {
    stopped = true;
    clearTimeout(retry);
    if (channel) void supabase().then((client) => channel && client.removeChannel(channel));
  };
}
