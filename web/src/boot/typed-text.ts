/* Keeps text typed before the application runs as a draft, as the application does (offline/draft.ts), and restores it. */
import { arrived } from './document-arrival';
import { keep, readDraft } from './stored-draft';

const root = document.documentElement.dataset;
const reportForm = () => document.querySelector<HTMLFormElement>('form[data-live]');

arrived.then(restore);

/** Writes the draft into the controls that have arrived. */
function restore() {
  const kept = readDraft();
  if (!kept || 'live' in root) return;
  for (const control of (reportForm()?.elements ?? []) as Iterable<HTMLInputElement>) {
    const value = kept[control.name];
    if (!value || /hidden|file/.test(control.type)) continue;
    control.value = value;
    // The list has only the first countries.
    if (!control.value)
      (control as unknown as HTMLSelectElement).add(new Option(`+${value}`, value, true, true));
  }
}

// Only the value that changes is saved: others of the draft may not be in the controls yet.
addEventListener('input', ({ target }) => {
  const { form, name, value, type } = target as HTMLInputElement;
  if ('live' in root || !form || form !== reportForm() || type === 'file') return;
  keep({ ...readDraft(), [name]: value });
});

// The browser shows a page again as it was. If its draft has been sent or deleted since, empty the form.
addEventListener('pageshow', (event) => {
  if ((event as PageTransitionEvent).persisted && !readDraft()) reportForm()?.reset();
});
