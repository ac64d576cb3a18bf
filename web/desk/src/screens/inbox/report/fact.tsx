import type { ReactNode } from 'react';

/** A name and a value of a report. Without a value it is not shown. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <div className="grid grid-cols-[6.5rem_1fr] gap-2 py-0.5">
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}
