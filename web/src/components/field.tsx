import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '@/i18n/text';

/** Attributes that connect a control with its label, hint and error message. Spread them onto the control. */
export interface FieldControl {
  id: string;
  name: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
  required: true | undefined;
}

interface FieldProps {
  name: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  required?: boolean;
  children: (control: FieldControl) => ReactNode;
}

/** A label, a control, a hint and an error message, connected for screen readers. */
export function Field({ name, label, hint, error, required, children }: FieldProps) {
  const { optional } = useText('layout');
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return (
    <div className="grid content-start gap-1.5">
      <label htmlFor={name} className="font-semibold">
        {label}{' '}
        {required ? (
          <span className="text-destructive">*</span>
        ) : (
          <span className="text-muted-foreground text-sm font-normal">({optional})</span>
        )}
      </label>
      {children({
        id: name,
        name,
        'aria-describedby': described || undefined,
        'aria-invalid': error ? true : undefined,
        required: required ? true : undefined,
      })}
      {hint && (
        <p id={`${name}-hint`} className="text-muted-foreground text-sm">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${name}-error`} className="text-destructive flex items-center gap-1.5 font-medium">
          <CircleAlert aria-hidden className="size-4 shrink-0" />
          {error}
        </p>
      )}
    </div>
  );
}
