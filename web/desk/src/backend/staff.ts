import { invoke, rpc } from './client';
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

/** Invites a person by a mail in a language. Returns false if the account existed: then it only gets the role. */
export const invite = (email: string, role: Role, language: string) =>
  invoke<{ mailed: boolean }>('staff-invite', { email, role, language }).then(({ mailed }) => mailed);

/** Returns a link for a member who was invited and has not come yet. It works once; the trail names the owner. */
export const invitationLink = (email: string, role: Role) =>
  invoke<{ link: string }>('staff-invite', { email, role, link: true }).then(({ link }) => link);
