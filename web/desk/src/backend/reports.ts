import { today } from '@desk/lib/local-day';
import type { Status, StatusCounts } from '@desk/lib/status';
import type { ReportState } from './change-reports';
import { ApiError, check, rpc, supabase } from './client';
import type { Contact } from './contacts';
import type { Notice } from './notices';

export interface Row extends Omit<ReportState, 'duplicate_of' | 'possible_duplicate_of'> {
  id: string;
  reference: string;
  product_name: string;
  region: string | null;
  district: string | null;
  language: 'en' | 'so';
  has_photo: boolean;
  possible_duplicate: boolean;
  notes: number;
  voice_messages: number;
  created_at: string;
}

interface Note {
  id: number;
  author: string | null;
  author_name: string;
  body: string;
  created_at: string;
}

export interface Report extends ReportState {
  id: string;
  reference: string;
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
  duplicate_of: string | null; // a reference, unlike in ReportState
  duplicate_id: string | null;
  possible_duplicate: string | null; // the reference of possible_duplicate_of
  reviewer_notes: string | null;
  created_at: string;
  updated_at: string;
  first_action_at: string | null;
  notes: Note[];
  contacts: Contact[];
  notices: Notice[];
}

export interface Filter {
  status?: Status[];
  region?: string;
  product?: string;
  since?: string;
  until?: string;
  photo?: true;
  mine?: true;
  unassigned?: true;
  serious?: true;
  overdue?: true;
  order?: 'oldest';
  search?: string;
}

/** The filter as the database knows it: overdue is the day of the reader, and ids chooses rows. */
const forDatabase = ({ overdue, ...filter }: Filter, ids?: string[]) => ({
  ...filter,
  overdue: overdue && today(),
  ids,
});

/**
 * Rows of the first page: more than a screen shows, and 10 kB. On a slow line each kilobyte more is
 * seen.
 */
export const firstSize = 30;
export const pageSize = 100;
/** Rows of a page after the first thousand: for people who go through all reports. */
export const largePage = 500;

/** Returns the first reports of a filter, or those after the row last. */
export const listReports = (filter: Filter, most: number, last?: Row) =>
  rpc<Row[]>('list_reports', {
    filter: forDatabase(filter),
    before: last?.created_at,
    before_id: last?.id,
    most,
  });

/** Returns the rows of some reports, whatever filter they match. Deleted ones are missing. */
export const rowsOf = (ids: string[]) =>
  rpc<Row[]>('list_reports', { filter: forDatabase({}, ids), most: largePage });

export const countReports = (filter: Filter) =>
  rpc<StatusCounts>('count_reports', { filter: forDatabase(filter) });

/** Returns when a report last changed, without reading it, or undefined if it is deleted. */
export async function lastChange(id: string): Promise<string | undefined> {
  const { data, error } = await (await supabase()).from('reports').select('updated_at').eq('id', id);
  check(error);
  return data?.[0]?.updated_at;
}

/** One line of what happened to a report. */
export interface TimelineEntry {
  id: number;
  at: string;
  actor?: string | null;
  actor_name?: string;
  action: string;
  detail: Record<string, unknown>;
}

export const readTimeline = (report: string) => rpc<TimelineEntry[]>('report_timeline', { report });

/** Reads a whole report. The trail names the reader. */
export const readReport = (reference: string) => rpc<Report>('read_report', { name: reference });

/** Reports whether an error of readReport means that there is no such report. */
export const isMissing = (error: unknown) => error instanceof ApiError && error.code === 'PT404';

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

/** Returns all reports of a period with every field, newest first, for owners. The trail keeps the export. */
export async function exportReports(since?: string, until?: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  let after: unknown;
  for (;;) {
    const page = await rpc<Record<string, unknown>[]>('export_reports', { since, until, after, most: 500 });
    all.push(...page);
    if (page.length < 500) break;
    after = page.at(-1)?.id;
  }
  return all.sort((a, b) => String(b.created_at).localeCompare(String(a.created_at)));
}
