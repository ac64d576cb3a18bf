import { Button } from '@desk/components/ui';
import { useLanguage } from '@desk/i18n/language';
import type { ReactNode } from 'react';

/** The frame of the screens before the desk: one narrow card. */
export function Entry({ title, children }: { title?: string; children: ReactNode }) {
  const { text, setLanguage } = useLanguage();
  const other = text.otherLanguage as 'en' | 'so';
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-4 p-4">
      <div className="flex items-center justify-between">
        <p className="flex items-center gap-2 font-semibold">
          <Mark /> Daawo · {text.desk}
        </p>
        <Button variant="ghost" lang={other} onClick={() => setLanguage(other)}>
          {text.switchLanguage}
        </Button>
      </div>
      <div className="bg-card flex flex-col gap-4 rounded-xl border p-6">
        {title && <h1>{title}</h1>}
        {children}
      </div>
    </main>
  );
}

export function Mark() {
  return (
    <svg viewBox="0 0 36 36" className="size-6" aria-hidden="true">
      <rect width="36" height="36" rx="8" className="fill-primary" />
      <path className="fill-primary-foreground" d="M18 6c4 5 8 8 8 13a8 8 0 0 1-16 0c0-5 4-8 8-13Z" />
    </svg>
  );
}
