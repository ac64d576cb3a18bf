import { ApiError, check, rpc, supabase } from './client';
import type { Role } from './session';

export interface Member {
  id: string;
  name: string;
  role: Role;
  email: string | null; // the rest is for owners only
  invited_at: string | null;
  last_sign_in_at: string | null;
  has_factor: boolean | null;
  sessions: number | null;
}

export const listStaff = () => rpc<Member[]>('staff_members');
export const setRole = (member: string, role: Role | null) => rpc<void>('set_staff_role', { member, role });
export const endSessions = (member: string) => rpc<number>('end_staff_sessions', { member });
export const removeFactors = (member: string) => rpc<number>('remove_staff_factors', { member });

/** Invites a person by mail. Returns false if the account existed: then it only gets the role. */
export async function invite(email: string, role: Role): Promise<boolean> {
  const { data, error } = await (await supabase()).functions.invoke('staff-invite', {
    body: { email, role },
  });
  if (error) {
    const reply = await (error.context as Response | undefined)?.json?.().catch(() => null);
    throw new ApiError(reply?.message ?? error.message, reply?.code ?? '');
  }
  return (data as { mailed: boolean }).mailed;
}

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

/** Returns rows of the trail, newest first, from a row on. */
export async function listTrail(
  filter: { subject?: string; action?: string; name?: string },
  before?: number,
): Promise<TrailRow[]> {
  let query = (await supabase()).from('staff_trail').select('*').order('id', { ascending: false }).limit(100);
  if (filter.subject) query = query.eq('subject', filter.subject);
  if (filter.action) query = query.eq('action', filter.action);
  if (filter.name) query = query.ilike('actor_name', `%${filter.name.replace(/[\\%_]/g, '\\$&')}%`);
  if (before) query = query.lt('id', before);
  const { data, error } = await query;
  check(error);
  return (data ?? []) as TrailRow[];
}
