/**
 * What a reader has typed, and the report that is on its way, kept in this tab only (phones are shared) and for
 * thirty idle minutes, which boot.ts counts on pages without the form. Every function tolerates a browser that forbids
 * storage: the form then simply has no draft.
 */
const draftKey = 'daawo.report-draft';
const attemptKey = 'daawo.report-attempt';
export const draftLife = 30 * 60 * 1000;
/** Fired at the window when the draft is cleared, by whoever it is: the form forgets it, too. */
export const draftCleared = 'daawo:draft-cleared';

interface Stored<Value> {
  savedAt: number;
  value: Value;
}

export function saveDraft<Draft>(draft: Draft, now = Date.now()) {
  save(draftKey, draft, now);
}

export function readDraft<Draft>(now = Date.now()): Draft | undefined {
  return read(draftKey, now);
}

/** A report whose answer may be lost: sent again after a reload, it must have its key again. */
export function saveAttempt<Attempt>(attempt: Attempt, now = Date.now()) {
  save(attemptKey, attempt, now);
}

export function readAttempt<Attempt>(now = Date.now()): Attempt | undefined {
  return read(attemptKey, now);
}

export function clearDraft() {
  for (const key of [draftKey, attemptKey]) remove(key);
  dispatchEvent(new Event(draftCleared));
}

function save<Value>(key: string, value: Value, now: number) {
  try {
    sessionStorage.setItem(key, JSON.stringify({ savedAt: now, value } satisfies Stored<Value>));
  } catch {
    // full or forbidden
  }
}

function read<Value>(key: string, now: number): Value | undefined {
  try {
    const text = sessionStorage.getItem(key);
    if (!text) return undefined;
    const { savedAt, value } = JSON.parse(text) as Stored<Value>;
    if (now - savedAt < draftLife) return value;
    remove(key);
  } catch {
    // forbidden, or not ours
  }
  return undefined;
}

function remove(key: string) {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // forbidden: there is none
  }
}
