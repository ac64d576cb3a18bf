const prefix = 'desk-draft:';

/**
 * Keeps what a person has begun to write, in this tab alone: it survives a reload, other screens and
 * the end of a session, not the sign-out.
 */
export function keepDraft(name: string, value: unknown) {
  if (value === undefined) sessionStorage.removeItem(prefix + name);
  else sessionStorage.setItem(prefix + name, JSON.stringify(value));
}

/** Returns a draft, or undefined if there is none. */
export function draftOf<T>(name: string): T | undefined {
  const kept = sessionStorage.getItem(prefix + name);
  return kept === null ? undefined : (JSON.parse(kept) as T);
}

/** Removes all drafts, or those of other members than the one whose drafts begin with keep. */
export function removeDrafts(keep?: string) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix) && !(keep && key.startsWith(`${prefix}${keep}:`)))
      sessionStorage.removeItem(key);
  }
}
