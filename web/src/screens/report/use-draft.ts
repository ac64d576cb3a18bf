import { type RefObject, useCallback, useEffect } from 'react';
import { clearDraft, draftCleared, readDraft, saveDraft } from '@/offline/draft';
import { draftLife } from '@/offline/draft-storage';
import { fieldNames, type ReportValues, readValues, somalia } from './report';

/**
 * Saves the typed values in sessionStorage and restores them after a change of language or a reload. It deletes them
 * after thirty minutes without input (boot/stored-draft.ts does on other pages), because the next user of the device may be another
 * person. `reset` empties the form whenever the draft is deleted. Returns a function that saves the draft now.
 */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  onRestoreLocation: (location: string) => void,
  reset: () => void,
) {
  useEffect(() => {
    const draft = readDraft<Partial<ReportValues>>(); // boot/typed-text.ts saves only the changed values
    if (!form.current || !draft) return;
    const typed = readValues(form.current);
    restoreDraft(form.current, draft, typed);
    if (!typed.location) onRestoreLocation(draft.location ?? '');
  }, [form, onRestoreLocation]);

  useEffect(() => (form.current ? keepDraftOf(form.current, reset) : undefined), [form, reset]);

  return useCallback(() => {
    if (form.current) saveDraft(readValues(form.current));
  }, [form]);
}

/** Writes the draft into the controls, except where the reader has typed before hydration. */
function restoreDraft(form: HTMLFormElement, draft: Partial<ReportValues>, typed: ReportValues) {
  // Number and calling code belong together: keep both if the reader has changed one of them.
  const typedNumber = typed.phone || typed.country !== somalia.code;
  for (const name of fieldNames) {
    const control = form.elements.namedItem(name);
    if (typedNumber && (name === 'phone' || name === 'country')) continue;
    const plain = control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement;
    if (plain && !typed[name]) {
      control.value = draft[name] ?? '';
      if (control.value) control.closest('details')?.setAttribute('open', '');
    }
    if (control instanceof HTMLSelectElement && name === 'country' && draft.country) {
      control.value = draft.country;
      if (!control.value) control.add(new Option(`+${draft.country}`, draft.country, true, true)); // until all are loaded
      control.dispatchEvent(new Event('change', { bubbles: true }));
    }
  }
}

/** Saves the draft at every input and deletes it after draftLife without one. Returns the function that stops this. */
function keepDraftOf(form: HTMLFormElement, reset: () => void) {
  let timer: ReturnType<typeof setTimeout>;
  let lastUsed: number;
  let kept = readDraft() !== undefined;
  const restartTimer = () => {
    lastUsed = Date.now();
    clearTimeout(timer);
    timer = setTimeout(clearDraft, draftLife);
  };
  const save = () => {
    saveDraft(readValues(form));
    kept = readDraft() !== undefined;
    restartTimer();
  };
  // Timers do not run while the device sleeps or the page is in the back/forward cache. A quick exit or another page
  // may have deleted the draft since.
  const check = () => {
    if (document.visibilityState === 'hidden') return;
    if (Date.now() - lastUsed >= draftLife || (kept && readDraft() === undefined)) clearDraft();
  };
  const onCleared = () => {
    kept = false;
    reset();
  };
  restartTimer();
  form.addEventListener('input', save);
  form.addEventListener('change', save);
  document.addEventListener('visibilitychange', check);
  addEventListener('pageshow', check);
  addEventListener(draftCleared, onCleared);
  return () => {
    clearTimeout(timer);
    form.removeEventListener('input', save);
    form.removeEventListener('change', save);
    document.removeEventListener('visibilitychange', check);
    removeEventListener('pageshow', check);
    removeEventListener(draftCleared, onCleared);
  };
}
