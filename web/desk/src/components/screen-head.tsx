import type { ReactNode } from 'react';

/** The title of a screen, at the same place on all of them, and what acts on the whole screen. */
export function ScreenHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex min-h-11 flex-wrap items-center justify-between gap-3 pointer-fine:min-h-9">
      <h1>{title}</h1>
      {children}
    </div>
  );
}
