import type { Session } from '@supabase/supabase-js';
import { check, rpc, sessionKey, supabase } from './client';

export const roles = ['reviewer', 'editor', 'owner'] as const;
export type Role = (typeof roles)[number];

/**
 * What the database says about the caller: the role that counts now, or what is missing for one.
 */
export interface Access {
  role: Role | null;
  member: boolean;
  second_factor_required: boolean;
  second_factor: boolean;
  has_factor: boolean;
  id: string | null;
  email: string | null;
  name: string | null;
  session_ends: string | null;
}

/** Calls changed with the session, now and after every change. Returns a function that stops it. */
export async function watchSession(changed: (session: Session | null, event: string) => void) {
  const { data } = (await supabase()).auth.onAuthStateChange((event, session) => changed(session, event));
  return () => data.subscription.unsubscribe();
}

export const readAccess = () => rpc<Access>('my_staff_access');

export async function signInByPassword(email: string, password: string) {
  check((await (await supabase()).auth.signInWithPassword({ email, password })).error);
}

/** Mails a link and a code. The reply is the same for unknown addresses. */
export async function sendLink(email: string) {
  const { error } = await (await supabase()).auth.signInWithOtp({
    email,
    options: { shouldCreateUser: false, emailRedirectTo: `${location.origin}/` },
  });
  // Sign-up is closed: an unknown address gets this code. The page must not tell who has an
  // account.
  if (error && error.code !== 'otp_disabled' && error.code !== 'signup_disabled') check(error);
}

export async function signInByCode(email: string, token: string) {
  check((await (await supabase()).auth.verifyOtp({ email, token, type: 'email' })).error);
}

/** Signs in with the one-time link of the command line. */
export async function signInByLink(hash: string, type: string) {
  const kind = type === 'invite' ? 'invite' : 'magiclink';
  check((await (await supabase()).auth.verifyOtp({ token_hash: hash, type: kind })).error);
}

/** Sets a password. The server asks for the current one, unless the session began by a link. */
export async function setPassword(password: string, current?: string) {
  const attributes = { password, ...(current && { current_password: current }) };
  check((await (await supabase()).auth.updateUser(attributes)).error);
}

export async function setName(name: string) {
  check((await (await supabase()).auth.updateUser({ data: { name } })).error);
}

/** Sets the language of the mails to the signed-in person. */
export async function setMailLanguage(language: string) {
  check((await (await supabase()).auth.updateUser({ data: { language } })).error);
}

/** The key in localStorage that tells all tabs that a person has signed out. */
const signedOutKey = 'desk-signed-out';

/** Reports whether the person has signed out, in any tab. Otherwise the session ended by itself. */
export const hasSignedOut = () => localStorage.getItem(signedOutKey) !== null;

/** Forgets that a person signed out before. */
export const forgetSignOut = () => localStorage.removeItem(signedOutKey);

/**
 * Ends this session, or all sessions of the person. The browser forgets it even if the server
 * cannot be reached.
 */
export async function signOut(scope: 'local' | 'global') {
  localStorage.setItem(signedOutKey, '1');
  const { error } = await (await supabase()).auth.signOut({ scope });
  localStorage.removeItem(sessionKey);
  if (error && scope === 'global') check(error);
}
