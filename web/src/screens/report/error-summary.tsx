import { CircleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import { useText } from '@/i18n/text';
import { useErrorOf } from './use-error-of';
import type { CheckedField } from './validate-report';

interface ErrorSummaryProps {
  fields: readonly CheckedField[];
  tooLong: boolean;
  attempts: number;
}

/** Links to the fields that are still invalid. It gets the focus after each attempt to send. */
export function ErrorSummary({ fields, tooLong, attempts }: ErrorSummaryProps) {
  const text = useText('report');
  const errorOf = useErrorOf(tooLong);
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failed attempt moves the focus here again
  useEffect(() => box.current?.focus(), [attempts]);
  if (fields.length === 0) return null;

  return (
    <Alert ref={box} variant="destructive" tabIndex={-1} role="group" aria-labelledby="error-summary">
      <CircleAlert aria-hidden />
      <AlertTitle id="error-summary">{text.errorSummary}</AlertTitle>
      <AlertDescription>
        <ul>
          {fields.map((field) => (
            <li key={field}>
              <a
                href={`#${field}`}
                className="inline-flex min-h-11 items-center underline underline-offset-4"
                onClick={(event) => {
                  event.preventDefault();
                  // After hydration the location is two controls. The first is the region.
                  (document.getElementById(field) ?? document.getElementById('region'))?.focus();
                }}
              >
                {errorOf(field)}
              </a>
            </li>
          ))}
        </ul>
      </AlertDescription>
    </Alert>
  );
}
