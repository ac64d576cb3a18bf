import { type ReactNode, useEffect, useId, useRef } from 'react';
import { cn } from '@/components/cn';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A modal dialog. Escape and the click beside it close it. The focus returns to the element that opened it. */
export function Dialog({ title, onClose, children, wide }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    ref.current?.showModal();
    // A button that closes the dialog is removed with it, and the browser gives the focus back to nothing.
    return () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
    };
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
