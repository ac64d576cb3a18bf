/* The report form's draft, deleted when it expires: on pages without the form too, and after the device has slept. */
import { available } from '../backend/available';
import { draftKey, draftLife } from '../offline/draft-storage';

export const storage = available(() => sessionStorage) as Record<string, string> & Partial<Storage>;

export function deleteDraft() {
  storage.clear?.();
}

/** Saves the typed values as the draft. */
export function keep(value: Record<string, string>) {
  try {
    storage[draftKey] = JSON.stringify({ savedAt: Date.now(), value });
  } catch {
    // storage is full
  }
}

/** Returns the typed values of the draft, unless it is too old. */
export function readDraft(): Record<string, string> | undefined {
  try {
    const { savedAt, value } = JSON.parse(storage[draftKey] as string);
    if (savedAt > Date.now()) keep(value); // the clock was set back
    if (Date.now() - savedAt < draftLife) return value;
  } catch {
    // no draft
  }
}

setInterval(() => {
  if (storage[draftKey] && !readDraft()) deleteDraft();
}, 6e4);
