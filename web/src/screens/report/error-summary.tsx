import { CircleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import { useText } from '@/i18n/text';
import type { CheckedField } from './validate-report';

/** What must be corrected, as links to the fields. It takes the focus whenever it appears or changes. */
export function ErrorSummary({ fields }: { fields: readonly CheckedField[] }) {
  const text = useText('report');
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every failed attempt moves the focus here again
  useEffect(() => box.current?.focus(), [fields]);
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
                  // The place is two controls once the page is live; the region comes first.
                  (document.getElementById(field) ?? document.getElementById('region'))?.focus();
                }}
              >
                {text.errors[field]}
              </a>
            </li>
          ))}
        </ul>
      </AlertDescription>
    </Alert>
  );
}
