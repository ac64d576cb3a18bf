import type { Access } from '@desk/backend/session';

/**
 * The state of a session: its user (null if there is none, undefined if not yet known), and the
 * user's access.
 */
interface SessionState {
  user: string | null | undefined;
  access: Access | undefined;
  welcomed: boolean; // false after an invitation, until a password is chosen or put off
}

export type EntryStep =
  | 'loading'
  | 'sign-in'
  | 'verify-factor'
  | 'enrol-factor'
  | 'ended'
  | 'not-staff'
  | 'welcome'
  | 'desk';

/** Returns which screen is next: the desk, or what is missing for it. */
export function entryStep({ user, access, welcomed }: SessionState): EntryStep {
  if (user === null) return 'sign-in';
  if (user === undefined || !access) return 'loading';
  if (access.role) return welcomed ? 'desk' : 'welcome';
  if (!access.member) return 'not-staff';
  if (access.second_factor || !(access.second_factor_required || access.has_factor)) return 'ended';
  return access.has_factor ? 'verify-factor' : 'enrol-factor';
}
