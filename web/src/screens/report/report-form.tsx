import { LoaderCircle, WifiOff } from 'lucide-react';
import { useRef } from 'react';
import { Alert, AlertDescription } from '@/components/ui/alert';
import { Button } from '@/components/ui/button';
import { useHydrated } from '@/components/use-hydrated';
import { useOnline } from '@/components/use-online';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { clearDraft } from '@/offline/draft';
import type { Progress } from './delivery';
import { ErrorSummary } from './error-summary';
import { ReportFields } from './report-fields';
import { prepareToSend, useReportSubmission } from './use-report-submission';

/**
 * The report form. Without JavaScript the browser posts it, and the function replies with pages. Autocomplete is on
 * only after hydration, so that a browser does not restore what another reader has typed.
 */
export function ReportForm() {
  const text = useText('report');
  const language = useLanguage();
  const hydrated = useHydrated();
  const online = useOnline();
  const form = useRef<HTMLFormElement>(null);
  const { submit, progress, ...fields } = useReportSubmission(form);

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
      <ErrorSummary fields={fields.wrong} />
      <input type="hidden" name="language" value={language} />
      <p className="hidden" aria-hidden>
        <input name="website" tabIndex={-1} autoComplete="off" aria-label="website" />
      </p>
      <ReportFields {...fields} autoComplete={hydrated} />
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
      <SendingStatus progress={progress} />
      <p className="text-muted-foreground noscript:hidden text-sm">{text.draftNote}</p>
    </form>
  );
}

function SendingStatus({ progress }: { progress: Progress | undefined }) {
  const text = useText('report');
  return (
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
  );
}
