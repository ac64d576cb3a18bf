import { type RefObject, useCallback, useEffect } from 'react';
import { clearDraft, draftCleared, readDraft, saveDraft } from '@/offline/draft';
import { draftLife } from '@/offline/draft-storage';
import { countries } from './countries';
import { fieldNames, type ReportValues, readValues } from './report';

/**
 * Saves the typed values in sessionStorage and restores them after a change of language or a reload. It deletes them after
 * thirty minutes without input (boot.ts does on other pages), because the next user of the device may be another person.
 * `reset` empties the form whenever the draft is deleted. Returns a function that saves the draft now.
 */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  onRestoreLocation: (location: string) => void,
  reset: () => void,
) {
  useEffect(() => {
    const element = form.current;
    const draft = readDraft<ReportValues>();
    if (!element || !draft) return;
    const typed = readValues(element);
    // Number and calling code belong together: keep both if the reader changed one of them before hydration.
    const typedNumber = typed.phone || typed.country !== countries[0]?.code;
    for (const name of fieldNames) {
      const control = element.elements.namedItem(name);
      if (typedNumber && (name === 'phone' || name === 'country')) continue;
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
    let lastUsed: number;
    let kept = readDraft() !== undefined;
    const restartTimer = () => {
      lastUsed = Date.now();
      clearTimeout(timer);
      timer = setTimeout(clearDraft, draftLife);
    };
    const keep = () => {
      saveDraft(readValues(element));
      kept = readDraft() !== undefined;
      restartTimer();
    };
    // Timers do not run while the device sleeps or the page is in the back/forward cache. A quick exit or another page may
    // have deleted the draft since.
    const wake = () => {
      if (document.visibilityState === 'hidden') return;
      if (Date.now() - lastUsed >= draftLife || (kept && readDraft() === undefined)) clearDraft();
    };
    const cleared = () => {
      kept = false;
      reset();
    };
    restartTimer();
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
  }, [form, reset]);

  return useCallback(() => {
    if (form.current) saveDraft(readValues(form.current));
  }, [form]);
}
