/*
 * The draft of the report form and the report that is being sent. Both are in sessionStorage, so only in this tab
 * (phones are shared), and expire after thirty minutes without input; boot/stored-draft.ts checks that on pages without the form. If
 * the browser forbids storage, nothing is saved and no function throws.
 */
import { randomKey } from '@/lib/random-key';
import { draftKey, draftLife } from './draft-storage';

const attemptKey = 'daawo.report-attempt';

/** Event on window after the draft is deleted; the form then resets itself. */
export const draftCleared = 'daawo:draft-cleared';

interface Stored<Value> {
  savedAt: number;
  value: Value;
  /** Of a draft: random text that a copy of the tab has too. */
  seed?: string;
}

export function saveDraft<Draft>(draft: Draft, now = Date.now()) {
  save(draftKey, { savedAt: now, value: draft, seed: draftSeed(now) ?? randomKey() });
}

export function readDraft<Draft>(now = Date.now()): Draft | undefined {
  return read<Draft>(draftKey, now)?.value;
}

/** Returns random text of the draft, with which both tabs send one report if the reader has copied the tab. */
export function draftSeed(now = Date.now()): string | undefined {
  return read(draftKey, now)?.seed;
}

/** Saves a report whose reply may be lost: a retry after a reload must have the same key. */
export function saveAttempt<Attempt>(attempt: Attempt, now = Date.now()) {
  save(attemptKey, { savedAt: now, value: attempt });
}

export function readAttempt<Attempt>(now = Date.now()): Attempt | undefined {
  return read<Attempt>(attemptKey, now)?.value;
}

export function clearDraft() {
  for (const key of [draftKey, attemptKey]) remove(key);
  dispatchEvent(new Event(draftCleared));
}

function save(key: string, stored: Stored<unknown>) {
  try {
    sessionStorage.setItem(key, JSON.stringify(stored));
  } catch {
    // storage is full or forbidden
  }
}

function read<Value>(key: string, now: number): Stored<Value> | undefined {
  try {
    const text = sessionStorage.getItem(key);
    if (!text) return undefined;
    const stored: Stored<Value> = JSON.parse(text);
    if (stored.savedAt > now) save(key, { ...stored, savedAt: now }); // the clock was set back: count from here
    if (now - stored.savedAt < draftLife) return stored;
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
