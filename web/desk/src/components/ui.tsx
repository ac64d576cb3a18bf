import type { Status } from '@desk/backend/reports';
import { useText } from '@desk/i18n/language';
import { type ComponentProps, type ReactNode, useEffect, useId, useRef } from 'react';
import { cn } from '@/components/cn';
import { Button as SiteButton } from '@/components/ui/button';
import { Input, NativeSelect, Textarea } from '@/components/ui/input';
import { message } from './message';

/** The site's button, in the desk's denser size. Touch screens keep the full height. */
export function Button({ className, ...props }: ComponentProps<typeof SiteButton>) {
  return (
    <SiteButton
      type="button"
      className={cn('pointer-fine:min-h-9 px-3! py-1! text-sm', className)}
      {...props}
    />
  );
}

export { Input, NativeSelect, Textarea };

/** A label above its control. */
export function Field({
  label,
  error,
  children,
  className,
}: {
  label: string;
  error?: string;
  className?: string;
  children: (props: { id: string; 'aria-invalid'?: true; 'aria-describedby'?: string }) => ReactNode;
}) {
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

const tones: Record<Status, string> = {
  new: 'bg-new-soft text-new',
  reviewing: 'bg-sun-soft text-sun-ink',
  actioned: 'bg-done-soft text-done',
  closed: 'bg-muted text-muted-foreground',
};

export function StatusBadge({ status }: { status: Status }) {
  const text = useText();
  return (
    <span
      className={cn(
        'inline-block rounded px-1.5 py-0.5 text-xs font-semibold whitespace-nowrap',
        tones[status],
      )}
    >
      {text.status[status]}
    </span>
  );
}

export function Panel({
  title,
  aside,
  children,
  className,
}: {
  title?: ReactNode;
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={cn('bg-card rounded-lg border p-4', className)}>
      {title && (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

/** The head of a screen: its title, and what belongs to the whole of it. */
export function ScreenHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** A modal dialog. Escape and the click beside it close it. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && ref.current.close()}
      className={cn(
        'bg-card text-foreground m-auto max-h-[90dvh] w-[calc(100vw-2rem)] overflow-auto rounded-xl border p-0 backdrop:bg-black/50',
        wide ? 'max-w-5xl' : 'max-w-lg',
      )}
    >
      <div className="flex flex-col gap-4 p-5">
        <h2 id={id} className="text-lg">
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

export function Loading() {
  return (
    <p role="status" className="text-muted-foreground p-4">
      {useText().loading}
    </p>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const text = useText();
  return (
    <div
      role="alert"
      className="bg-destructive-soft text-destructive flex flex-wrap items-center gap-3 rounded-lg p-3"
    >
      <span>{text.failed(message(error, text))}</span>
      {retry && (
        <Button variant="outline" onClick={retry}>
          {text.retry}
        </Button>
      )}
    </div>
  );
}
