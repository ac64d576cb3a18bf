import { available } from './available';

/** Reports whether supabase-js has stored a session in this browser. */
export function hasSession() {
  return Object.keys(available(() => localStorage)).some((key) => /^sb-.+-auth-token$/.test(key));
}

/** Reports whether the page has a session to restore: one in storage, or the reply of a sign-in in the address. */
export function hasSessionToRestore() {
  return hasSession() || /[#?&](access_token|code|error)=/.test(location.href);
}
