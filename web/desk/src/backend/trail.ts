import { check, supabase } from './client';

export interface TrailRow {
  id: number;
  at: string;
  actor: string | null;
  actor_name: string;
  action: string;
  subject: string;
  subject_id: string | null;
  subject_name: string | null;
  detail: Record<string, unknown>;
}

export interface TrailFilter {
  subject?: string;
  action?: string;
  name?: string; // a part of the actor's name
}

/** Rows of a page of the trail. */
export const trailPage = 100;

/** Returns a page of the trail, newest first, of rows older than before. */
export async function listTrail(filter: TrailFilter, before?: number): Promise<TrailRow[]> {
  let query = (await supabase())
    .from('staff_trail')
    .select('*')
    .order('id', { ascending: false })
    .limit(trailPage);
  if (filter.subject) query = query.eq('subject', filter.subject);
  if (filter.action) query = query.eq('action', filter.action);
  if (filter.name) query = query.ilike('actor_name', `%${filter.name.replace(/[\\%_]/g, '\\$&')}%`);
  if (before) query = query.lt('id', before);
  const { data, error } = await query;
  check(error);
  return (data ?? []) as TrailRow[];
}
