/** The one-time link of the command line: #/welcome?token_hash=…&type=…. */
export interface OneTimeLink {
  hash: string;
  type: string;
}

/** Returns the values of a one-time link's fragment, or undefined if it is not one. */
export function linkValues(fragment: string) {
  const [path, query] = fragment.slice(1).split('?');
  return path === '/welcome' && query ? new URLSearchParams(query) : undefined;
}

/** Returns the one-time link that has opened the page. It is removed from the address. */
export function takeLink(): OneTimeLink | null {
  const values = linkValues(location.hash);
  if (!values) return null;
  history.replaceState(null, '', '#/');
  const hash = values.get('token_hash');
  return hash ? { hash, type: values.get('type') ?? '' } : null;
}

/** Reports whether a fragment is that of the mail of an invitation. */
export const isInvitation = (fragment: string) => /[#&]type=invite(&|$)/.test(fragment);

/** Reports whether a fragment is that of any mailed link that signs in. */
export const isMailedLink = (fragment: string) => /[#&]type=(invite|magiclink|signup)(&|$)/.test(fragment);

/** Reports whether a fragment says that a mailed link was used before, or is too old. */
export const isUsedLink = (fragment: string) => /[#&]error_code=otp_expired(&|$)/.test(fragment);
