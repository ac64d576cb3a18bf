/*
 * The draft of the report form and the report that is being sent. Both are in sessionStorage, so only in this tab
 * (phones are shared), and expire after thirty minutes without input; boot/stored-draft.ts checks that on pages without the form. If
 * the browser forbids storage, nothing is saved and no function throws.
 */
import { draftKey, draftLife } from './draft-storage';

const attemptKey = 'daawo.report-attempt';

/** Event on window after the draft is deleted; the form then resets itself. */
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

/** Saves a report whose reply may be lost: a retry after a reload must have the same key. */
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
    // storage is full or forbidden
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
    // storage is forbidden, or its content is invalid
  }
  return undefined;
}

function remove(key: string) {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // storage is forbidden, so it is empty
  }
}
