import { type RefObject, useCallback, useEffect } from 'react';
import { clearDraft, draftCleared, draftLife, readDraft, saveDraft } from '@/offline/draft';
import { countries } from './countries';
import { fieldNames, type ReportValues, readValues } from './report';

/**
 * Keeps what is typed in the tab's storage and brings it back after a change of language or a reload. Thirty idle
 * minutes clear it (boot.ts, once the reader is on another page): the next one may be somebody else. `forget` empties
 * the form whenever the draft is cleared.
 */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  onRestoreLocation: (location: string) => void,
  forget: () => void,
) {
  useEffect(() => {
    const element = form.current;
    const draft = readDraft<ReportValues>();
    if (!element || !draft) return;
    const typed = readValues(element);
    // A number and its calling code are one: what the reader has begun of them before this code ran stays as it is.
    const ownNumber = typed.phone || typed.country !== countries[0]?.code;
    for (const name of fieldNames) {
      const control = element.elements.namedItem(name);
      if (ownNumber && (name === 'phone' || name === 'country')) continue;
      const plain = control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement;
      if (plain && !typed[name]) control.value = draft[name] ?? '';
      if (control instanceof HTMLSelectElement && name === 'country') {
        control.value = draft.country;
        control.dispatchEvent(new Event('change', { bubbles: true }));
      }
    }
    if (!typed.location) onRestoreLocation(draft.location);
  }, [form, onRestoreLocation]);

  useEffect(() => {
    const element = form.current;
    if (!element) return;
    let timer: ReturnType<typeof setTimeout>;
    let used: number;
    let kept = readDraft() !== undefined;
    const rest = () => {
      used = Date.now();
      clearTimeout(timer);
      timer = setTimeout(clearDraft, draftLife);
    };
    const keep = () => {
      saveDraft(readValues(element));
      kept = readDraft() !== undefined;
      rest();
    };
    // Timers stand still while a phone sleeps, and in a page that waits for the back button; there the draft may have
    // been cleared meanwhile, by a quick exit or because the report was sent.
    const wake = () => {
      if (document.visibilityState === 'hidden') return;
      if (Date.now() - used >= draftLife || (kept && readDraft() === undefined)) clearDraft();
    };
    const cleared = () => {
      kept = false;
      forget();
    };
    rest();
    element.addEventListener('input', keep);
    element.addEventListener('change', keep);
    document.addEventListener('visibilitychange', wake);
    addEventListener('pageshow', wake);
    addEventListener(draftCleared, cleared);
    return () => {
      clearTimeout(timer);
      element.removeEventListener('input', keep);
      element.removeEventListener('change', keep);
      document.removeEventListener('visibilitychange', wake);
      removeEventListener('pageshow', wake);
      removeEventListener(draftCleared, cleared);
    };
  }, [form, forget]);

  return useCallback(() => {
    if (form.current) saveDraft(readValues(form.current));
  }, [form]);
}
