import { type ReactNode, useId } from 'react';
import { cn } from '@/components/cn';

interface Props {
  label: string;
  error?: string;
  className?: string;
  children: (control: { id: string; 'aria-invalid'?: true; 'aria-describedby'?: string }) => ReactNode;
}

/** A label above its control. */
export function Field({ label, error, children, className }: Props) {
  const id = useId();
  return (
    <div className={cn('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="text-muted-foreground text-sm">
        {label}
      </label>
      {children(error ? { id, 'aria-invalid': true, 'aria-describedby': `${id}-error` } : { id })}
      {error && (
        <p id={`${id}-error`} className="text-destructive text-sm">
          {error}
        </p>
      )}
    </div>
  );
}

/** The classes of a control in the desk's denser size. Touch screens keep the full height. */
export const dense = 'pointer-fine:min-h-9! py-1!';
