import type { Access } from '@desk/backend/session';

/**
 * Reports whether a session has reached its own end, so that the same person may continue on the
 * open page. A session that was ended (sign-out on another device, another role) closes the page.
 * access is the last one with a role, now is what the database says at present, if it replies.
 */
export function hasRunOut(access: Access | undefined, now: Access | undefined, time = Date.now()) {
  if (!access?.session_ends) return false;
  const over = Date.parse(access.session_ends) <= time + 120_000; // the clocks of two machines differ
  if (!now) return over;
  return now.id === access.id && now.member && !now.role && (now.session_ends !== null || over);
}
