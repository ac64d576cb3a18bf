import type { Status, StatusCounts } from '@desk/lib/status';
import { ApiError, check, rpc, supabase } from './client';

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

interface Note {
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

/**
 * Rows of the first page: more than a screen shows, and 10 kB. On a slow line each kilobyte more is
 * seen.
 */
export const firstSize = 30;
export const pageSize = 100;
/** Rows of a page after the first thousand: for people who go through all reports. */
export const largePage = 500;

/** Returns the newest reports of a filter, or those after the row last. */
export const listReports = (filter: Filter, most: number, last?: Row) =>
  rpc<Row[]>('list_reports', { filter, before: last?.created_at, before_id: last?.id, most });

export const countReports = (filter: Filter) => rpc<StatusCounts>('count_reports', { filter });

/** Reads a whole report. The trail names the reader. */
export const readReport = (reference: string) => rpc<Report>('read_report', { name: reference });

/** Reports whether an error of readReport means that there is no such report. */
export const isMissing = (error: unknown) => error instanceof ApiError && error.code === 'PT404';

export type Change = Partial<{ status: Status; assigned_to: string | null; duplicate_of: string | null }>;

export async function changeReport(id: string, change: Change) {
  const { data, error } = await (await supabase()).from('reports').update(change).eq('id', id).select('id');
  check(error);
  if (data?.length !== 1) check({ message: 'not allowed', code: '42501' });
}

export async function addNote(id: string, body: string) {
  check((await (await supabase()).from('report_notes').insert({ report_id: id, body })).error);
}

interface Forwarded {
  reference: string;
  created_at: string;
  product_name: string;
  batch_number: string | null;
  expiry_date: string | null;
  region: string | null;
  district: string | null;
}

export const forwardReport = (reference: string) => rpc<Forwarded>('forward_report', { name: reference });

/**
 * Deletes a report, then its photo. If the photo cannot be reached now, the hourly clean-up removes
 * it.
 */
export async function deleteReport(reference: string, reason: string) {
  const photo = await rpc<string | null>('delete_report', { name: reference, reason });
  if (photo) await (await supabase()).storage.from('report-photos').remove([photo]);
}

/** Returns the photo's content, for an hour after its report was opened. There are no links to it. */
export async function fetchPhoto(name: string): Promise<Blob> {
  const { data, error } = await (await supabase()).storage.from('report-photos').download(name);
  if (!data) throw error;
  return data;
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
