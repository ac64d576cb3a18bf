import { LanguageSwitch } from '@desk/components/language-switch';
import { Mark } from '@desk/components/mark';
import { useText } from '@desk/i18n/language';
import type { ReactNode } from 'react';

/** The frame of the screens before the desk: one narrow card. */
export function EntryFrame({ title, children }: { title?: string; children: ReactNode }) {
  const text = useText();
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-4 p-4">
      <div className="flex items-center justify-between">
        <p className="flex items-center gap-2 font-semibold">
          <Mark /> Daawo · {text.desk}
        </p>
        <LanguageSwitch />
      </div>
      <div className="bg-card flex flex-col gap-4 rounded-xl border p-6">
        {title && <h1>{title}</h1>}
        {children}
      </div>
    </main>
  );
}
