import type { ReactNode } from 'react';
import { cn } from '@/components/cn';

interface Props {
  title?: ReactNode;
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A card with a title and, beside it, what acts on the whole of the card. */
export function Panel({ title, aside, children, className }: Props) {
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
