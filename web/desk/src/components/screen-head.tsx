import type { ReactNode } from 'react';

/** The title of a screen, and what acts on the whole screen. */
export function ScreenHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
      <h1>{title}</h1>
      {children}
    </div>
  );
}
