import { LoaderCircle, WifiOff } from 'lucide-react';
import { type FormEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Field } from '@/components/field';
import { prepareToast, toast } from '@/components/toast';
import { Alert, AlertDescription } from '@/components/ui/alert';
import { Button } from '@/components/ui/button';
import { Input, Textarea } from '@/components/ui/input';
import { useHydrated } from '@/components/use-hydrated';
import { useOnline } from '@/components/use-online';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { isMissingPart } from '@/layout/full-styles';
import { clearDraft, readDraft, saveAttempt } from '@/offline/draft';
import { ErrorSummary } from './error-summary';
import { ExpiryDateField } from './expiry-date-field';
import { LocationPicker } from './location-picker';
import { PhoneField } from './phone-field';
import { PhotoField } from './photo-field';
import { limits, readValues } from './report';
import type { Attempt, Step } from './submit-report';
import { useDraft } from './use-draft';
import { type CheckedField, validateReport } from './validate-report';

interface Progress {
  step: Step;
  share?: number;
}

/** How far the report on its way is, in this tab's memory: its reader may leave the form and be back before it has arrived. */
let underway: Progress | undefined;
let show = (_: Progress | undefined) => {};

function setProgress(next?: Progress) {
  underway = next;
  show(next);
}

/** What sending needs is fetched while the reader still types: the line may be gone when they press Submit. */
function prepareToSend() {
  prepareToast();
  import('./submit-report').then(({ warmUp }) => warmUp()).catch(() => {});
}

/**
 * The form, without its surroundings. Without scripts the browser posts it and the function answers with pages. A browser
 * must not bring back by itself what the last reader typed, so the fields that it may fill in say so only once the
 * page is live.
 */
export function ReportForm({ onSuccess }: { onSuccess: (receipt: ReactNode) => void }) {
  const text = useText('report');
  const language = useLanguage();
  const hydrated = useHydrated();
  const online = useOnline();
  const form = useRef<HTMLFormElement>(null);
  const attempt = useRef<Attempt>(undefined);
  const [location, setLocation] = useState('');
  const [photo, setPhoto] = useState<File>();
  const [wrong, setWrong] = useState<readonly CheckedField[]>([]);
  const [progress, setShown] = useState(underway);
  const [generation, setGeneration] = useState(0);

  const forget = useCallback(() => {
    form.current?.reset();
    attempt.current = undefined;
    setLocation('');
    setPhoto(undefined);
    setWrong([]);
    setGeneration((before) => before + 1); // fields with a state of their own start anew
  }, []);
  const keepDraft = useDraft(form, setLocation, forget);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chosen place fires no input event
  useEffect(keepDraft, [location]);

  useEffect(() => {
    show = setShown;
    show(underway); // it may have arrived since this form was drawn
  }, []);

  function changePhoto(next: File | undefined) {
    setPhoto(next);
    if (!next) saveAttempt(undefined); // else it would be in the report again after a reload
  }

  const errorOf = (field: CheckedField) => (wrong.includes(field) ? text.errors[field] : undefined);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = readValues(event.currentTarget);
    const problems = validateReport(values);
    setWrong(problems);
    if (problems.length > 0) return void toast({ ...text.toasts.invalid, variant: 'destructive' });
    if (!navigator.onLine) {
      const { title } = text.toasts.failed;
      return void toast({ title, description: text.offline, variant: 'destructive' });
    }
    if (underway) return; // pressed twice
    keepDraft(); // a field may have changed without a word when it was left
    setProgress({ step: photo ? 'preparingPhoto' : 'sending' });
    try {
      const { attemptFor, submitReport, ReportReceipt } = await import('./submit-report');
      attempt.current = attemptFor(values, photo, attempt.current);
      const receipt = await submitReport(attempt.current, {
        language,
        onStep: (step, share) => setProgress({ step, share }),
        onPhotoFailed: () => toast({ ...text.toasts.photoFailed, variant: 'destructive' }),
      });
      const draft = readDraft();
      if (!draft || JSON.stringify(draft) === JSON.stringify(values)) clearDraft();
      else {
        // Meanwhile the reader has begun another one, which shares neither key nor photo with this.
        attempt.current = undefined;
        saveAttempt(undefined);
      }
      toast(text.toasts.success);
      onSuccess(<ReportReceipt key={receipt.id} receipt={receipt} />);
    } catch (error) {
      // The browser can send, photo and all, what the page's own code cannot.
      if (form.current && isMissingPart(error) && navigator.onLine) return form.current.submit();
      const { title, description } = text.toasts.failed;
      const refusal = error instanceof Error && error.name === 'Refusal' ? error.message : undefined;
      toast({ title, description: refusal ?? description, variant: 'destructive' });
    } finally {
      setProgress();
    }
  }

  return (
    <form
      ref={form}
      onInput={prepareToSend}
      action="/functions/v1/submit-report"
      method="post"
      encType="multipart/form-data"
      noValidate={hydrated}
      autoComplete="off"
      onSubmit={submit}
      data-live=""
      data-offline={text.offline}
      className="grid gap-5"
    >
      <ErrorSummary fields={wrong} />
      <input type="hidden" name="language" value={language} />
      <p className="hidden" aria-hidden>
        <input name="website" tabIndex={-1} autoComplete="off" aria-label="website" />
      </p>
      <Field name="name" label={text.name} hint={text.nameHint}>
        {(control) => <Input {...control} autoComplete={hydrated ? 'name' : 'off'} maxLength={limits.name} />}
      </Field>
      <PhoneField key={`phone-${generation}`} error={errorOf('phone')} />
      <Field
        name="product_name"
        label={text.productName}
        hint={text.productHint}
        error={errorOf('product_name')}
        required
      >
        {(control) => <Input {...control} maxLength={limits.product_name} />}
      </Field>
      <Field name="where_bought" label={text.whereBought} hint={text.whereHint}>
        {(control) => <Input {...control} maxLength={limits.where_bought} />}
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field name="batch_number" label={text.batchNumber} hint={text.batchHint}>
          {(control) => <Input {...control} maxLength={limits.batch_number} />}
        </Field>
        <ExpiryDateField error={errorOf('expiry_date')} />
      </div>
      <LocationPicker
        key={`location-${generation}`}
        value={location}
        onChange={setLocation}
        error={errorOf('location')}
        required
      />
      <Field
        name="issue_description"
        label={text.problem}
        hint={text.problemHint}
        error={errorOf('issue_description')}
        required
      >
        {(control) => <Textarea {...control} rows={4} maxLength={limits.issue_description} />}
      </Field>
      <PhotoField key={`photo-${generation}`} photo={photo} onChange={changePhoto} />

      {!online && (
        <Alert variant="warning" role="status">
          <WifiOff aria-hidden />
          <AlertDescription>{text.offline}</AlertDescription>
        </Alert>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" size="lg" disabled={progress !== undefined} className="grow sm:grow-0">
          {progress && <LoaderCircle aria-hidden className="motion-safe:animate-spin" />}
          {progress ? text.submitting : text.submit}
        </Button>
        <Button type="button" variant="ghost" className="noscript:hidden" onClick={clearDraft}>
          {text.clearDraft}
        </Button>
      </div>
      <div role="status" className="empty:hidden">
        {progress && (
          <>
            <p>{text[progress.step]}</p>
            {progress.share !== undefined && (
              <progress
                value={progress.share}
                aria-label={text[progress.step]}
                className="accent-primary w-full"
              />
            )}
          </>
        )}
      </div>
      <p className="text-muted-foreground noscript:hidden text-sm">{text.draftNote}</p>
    </form>
  );
}
