import {
  createElement,
  type FormEvent,
  type RefObject,
  useCallback,
  useEffect,
  useReducer,
  useRef,
} from 'react';
import { prepareToast, toast } from '@/components/toast';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { isMissingPart } from '@/layout/full-styles';
import { clearDraft, readDraft, saveAttempt } from '@/offline/draft';
import { emptyForm, reduceForm } from './form-state';
import { type ReportValues, readValues } from './report';
import type { Attempt } from './submit-report';
import { useDelivery } from './use-delivery';
import { useDraft } from './use-draft';
import { validateReport } from './validate-report';

/** The state of the report form and its actions: check, send, keep and clear. */
export function useReportSubmission(form: RefObject<HTMLFormElement | null>) {
  const text = useText('report');
  const language = useLanguage();
  const { delivery, store } = useDelivery();
  const attempt = useRef<Attempt>(undefined);
  const [state, dispatch] = useReducer(reduceForm, emptyForm);

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

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = readValues(event.currentTarget);
    const wrong = validateReport(values);
    dispatch({ type: 'checked', wrong });
    if (wrong.length > 0) return void toast({ ...text.toasts.invalid, variant: 'destructive' });
    if (!navigator.onLine) {
      const { title } = text.toasts.failed;
      return void toast({ title, description: text.offline, variant: 'destructive' });
    }
    if (store.state().progress) return; // a second click, before the button is disabled
    keepDraft(); // leaving a field may have changed it without an event
    store.dispatch({ type: 'progressed', progress: { step: state.photo ? 'preparingPhoto' : 'sending' } });
    try {
      await send(values);
    } catch (error) {
      // The browser can post the form, photo included, without the code that is missing.
      if (form.current && isMissingPart(error) && navigator.onLine) return form.current.submit();
      const { title, description } = text.toasts.failed;
      const refusal = error instanceof Error && error.name === 'Refusal' ? error.message : undefined;
      toast({ title, description: refusal ?? description, variant: 'destructive' });
    } finally {
      store.dispatch({ type: 'ended' });
    }
  }

  async function send(values: ReportValues) {
    const { attemptFor, submitReport, ReportReceipt } = await import('./submit-report');
    attempt.current = attemptFor(values, state.photo, attempt.current);
    const receipt = await submitReport(attempt.current, {
      language,
      onStep: (step, share) => store.dispatch({ type: 'progressed', progress: { step, share } }),
      onPhotoFailed: () => toast({ ...text.toasts.photoFailed, variant: 'destructive' }),
    });
    const draft = readDraft();
    if (!draft || JSON.stringify(draft) === JSON.stringify(values)) clearDraft();
    else {
      // The reader has started another report. It must not have the key or the photo of this one.
      attempt.current = undefined;
      saveAttempt(undefined);
    }
    toast(text.toasts.success);
    store.dispatch({
      type: 'delivered',
      receipt: createElement(ReportReceipt, { key: receipt.id, receipt }),
    });
  }

  return { ...state, progress: delivery.progress, chooseLocation, choosePhoto, submit };
}

/** Loads the code that sends a report while the reader types: the connection may be lost at the time of the click. */
export function prepareToSend() {
  prepareToast();
  import('./submit-report').then(({ warmUp }) => warmUp()).catch(() => {});
}
