import { LoaderCircle, WifiOff } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Alert, AlertDescription } from '@/components/ui/alert';
import { Button } from '@/components/ui/button';
import { ProgressBar } from '@/components/ui/progress-bar';
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
  const { submit, recheck, progress, cancel, stopped, attempts, ...fields } = useReportSubmission(form);

  return (
    <form
      ref={form}
      onInput={(event) => {
        prepareToSend(language);
        recheck(event);
      }}
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
      <ErrorSummary fields={fields.wrong} tooLong={fields.tooLong} attempts={attempts} />
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
        <Button type="button" variant="ghost" className="noscript:hidden grow sm:grow-0" onClick={clearDraft}>
          {text.clearDraft}
        </Button>
      </div>
      <SendingStatus progress={progress} cancel={cancel} stopped={stopped} />
      <p className="text-muted-foreground noscript:hidden text-sm">{text.draftNote}</p>
    </form>
  );
}

/** Milliseconds after which the form says that it is still trying. */
const patience = 15_000;

interface SendingStatusProps {
  progress: Progress | undefined;
  cancel: (() => void) | undefined;
  stopped: boolean;
}

function SendingStatus({ progress, cancel, stopped }: SendingStatusProps) {
  const text = useText('report');
  const [late, setLate] = useState(false);
  const busy = progress !== undefined;
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => setLate(true), patience);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [busy]);

  return (
    <>
      <div role="status" className="empty:hidden">
        {progress && (
          <>
            <p>{text[progress.step]}</p>
            {progress.share !== undefined && (
              <ProgressBar value={progress.share} aria-label={text[progress.step]} />
            )}
          </>
        )}
        {late && <p>{text.stillTrying}</p>}
        {stopped && <p>{text.stopped}</p>}
      </div>
      {late && (
        <Button type="button" variant="outline" className="justify-self-start" onClick={cancel}>
          {text.cancel}
        </Button>
      )}
    </>
  );
}
