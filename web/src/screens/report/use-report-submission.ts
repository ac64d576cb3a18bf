import {
  createElement,
  type FormEvent,
  type RefObject,
  useCallback,
  useEffect,
  useReducer,
  useRef,
  useState,
} from 'react';
import { dismissToasts, prepareToast, toast } from '@/components/toast';
import { type Language, useLanguage } from '@/i18n/language';
import { loadText, textNow, useText } from '@/i18n/text';
import { fullStyles, isMissingPart } from '@/lib/full-styles';
import { inTime, sendingTimeout } from '@/lib/in-time';
import { clearDraft, readDraft, saveAttempt } from '@/offline/draft';
import { emptyForm, reduceForm } from './form-state';
import { isDoubtfulPhone, type ReportValues, readValues } from './report';
import type { Attempt } from './submit-report';
import { useDelivery } from './use-delivery';
import { useDraft } from './use-draft';
import { isTooLong, validateReport } from './validate-report';

/** The state of the report form and its actions: check, send, keep and clear. */
export function useReportSubmission(form: RefObject<HTMLFormElement | null>) {
  const text = useText('report');
  const { delivery, store } = useDelivery();
  const attempt = useRef<Attempt>(undefined);
  /** The number that the reader was asked about. */
  const asked = useRef<string>(undefined);
  const [state, dispatch] = useReducer(reduceForm, emptyForm);
  const [stopped, setStopped] = useState(false);
  const send = useSending(attempt, state.photo);

  const chooseLocation = useCallback(
    (location: string) => dispatch({ type: 'locationChosen', location }),
    [],
  );
  const reset = useCallback(() => {
    form.current?.reset();
    attempt.current = undefined;
    dispatch({ type: 'reset' });
  }, [form]);
  const keepDraft = useDraft(form, chooseLocation, reset);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chosen location fires no input event
  useEffect(keepDraft, [state.location]);

  function choosePhoto(photo: File | undefined) {
    dispatch({ type: 'photoChosen', photo });
    if (!photo) saveAttempt(undefined); // otherwise a reload would attach the photo again
  }

  function fail(reason = text.toasts.failed.description) {
    void toast({ title: text.toasts.failed.title, description: reason, variant: 'destructive' });
  }

  function explain(error: unknown) {
    // The browser can post the form, photo included, without the code that is missing.
    if (form.current && isMissingPart(error) && navigator.onLine) return form.current.submit();
    fail(error instanceof Error && error.name === 'Refusal' ? error.message : undefined);
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = readValues(event.currentTarget);
    const wrong = validateReport(values);
    const asks = wrong.length === 0 && isDoubtfulPhone(values.phone) && values.phone !== asked.current;
    dispatch({ type: 'checked', wrong, tooLong: isTooLong(values), asks });
    setStopped(false);
    dismissToasts();
    if (wrong.length > 0)
      return void toast({ ...text.toasts.invalid, variant: 'destructive', duration: 5000 });
    if (asks) {
      asked.current = values.phone;
      return document.getElementById('phone')?.focus();
    }
    if (!navigator.onLine) return fail(text.offline);
    if (store.state().progress) return; // a second click, before the button is disabled
    keepDraft(); // leaving a field may have changed it without an event
    store.dispatch({ type: 'progressed', progress: { step: state.photo ? 'preparingPhoto' : 'sending' } });
    const stop = new AbortController();
    const { signal } = stop;
    store.dispatch({ type: 'started', cancel: () => stop.abort() });
    try {
      // Not every step can be aborted, such as the import of code.
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      await Promise.race([send(values, signal), aborted]);
    } catch (error) {
      if (signal.aborted) setStopped(true);
      else explain(error);
    } finally {
      store.dispatch({ type: 'ended' });
    }
  }

  /** Removes the messages of fields that have become valid, and toasts about the last attempt. */
  function recheck({ currentTarget }: FormEvent<HTMLFormElement>) {
    dismissToasts();
    if (state.wrong.length === 0 && !state.asks) return;
    const values = readValues(currentTarget);
    const tooLong = isTooLong(values);
    const wrong = validateReport(values).filter((field) => state.wrong.includes(field));
    if (wrong.length < state.wrong.length || state.asks || tooLong !== state.tooLong)
      dispatch({ type: 'corrected', wrong, tooLong });
  }

  const { progress, cancel } = delivery;
  return { ...state, progress, cancel, stopped, chooseLocation, choosePhoto, submit, recheck };
}

/** Returns the function that sends a report and shows its receipt. */
function useSending(attempt: RefObject<Attempt | undefined>, photo: File | undefined) {
  const language = useLanguage();
  const { store } = useDelivery();
  return async (values: ReportValues, signal: AbortSignal) => {
    fullStyles().catch(() => {}); // the receipt is readable without them
    const parts = Promise.all([import('./submit-report'), loadReceipt(language)]);
    const [{ attemptFor, submitReport, ReportReceipt }, { toasts }] = await inTime(
      parts,
      sendingTimeout,
      'The import of the code that sends',
    );
    signal.throwIfAborted();
    attempt.current = attemptFor(values, photo, attempt.current);
    const receipt = await submitReport(attempt.current, {
      language,
      onStep: (step, share) => store.dispatch({ type: 'progressed', progress: { step, share } }),
      signal,
      onPhotoFailed: () => toast({ ...toasts.photoFailed, variant: 'destructive' }),
    });
    const draft = readDraft();
    if (!draft || JSON.stringify(draft) === JSON.stringify(values)) clearDraft();
    else {
      // The reader has started another report. It must not have the key or the photo of this one.
      attempt.current = undefined;
      saveAttempt(undefined);
    }
    toast(toasts.success);
    store.dispatch({
      type: 'delivered',
      receipt: createElement(ReportReceipt, { key: receipt.id, receipt }),
    });
  };
}

/** Returns the texts that are shown after sending. */
async function loadReceipt(language: Language) {
  await loadText(language, ['receipt']);
  return textNow(language, 'receipt');
}

/** Loads the code that sends a report while the reader types: the connection may be lost at the time of the click. */
export function prepareToSend(language: Language) {
  prepareToast();
  loadText(language, ['receipt']).catch(() => {});
  import('./submit-report').then(({ warmUp }) => warmUp()).catch(() => {});
}
