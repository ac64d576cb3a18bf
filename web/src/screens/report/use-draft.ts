import { type RefObject, useCallback, useEffect } from 'react';
import { draftLife, readDraft, saveDraft } from '@/offline/draft';
import { fieldNames, type ReportValues, readValues } from './report';

/**
 * Keeps what is typed in the tab's storage and brings it back after a change of language or a reload. After
 * thirty idle minutes `onExpire` clears the form as well: the next reader may be somebody else.
 */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  onRestoreLocation: (location: string) => void,
  onExpire: () => void,
) {
  useEffect(() => {
    const element = form.current;
    const draft = readDraft<ReportValues>();
    if (!element || !draft) return;
    const typed = readValues(element);
    for (const name of fieldNames) {
      const control = element.elements.namedItem(name);
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
    const keep = () => {
      saveDraft(readValues(element));
      clearTimeout(timer);
      timer = setTimeout(onExpire, draftLife);
    };
    element.addEventListener('input', keep);
    element.addEventListener('change', keep);
    return () => {
      clearTimeout(timer);
      element.removeEventListener('input', keep);
      element.removeEventListener('change', keep);
    };
  }, [form, onExpire]);

  return useCallback(() => {
    if (form.current) saveDraft(readValues(form.current));
  }, [form]);
}
