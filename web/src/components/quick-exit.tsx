import { LogOut } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { buttonVariants } from './ui/button';

/** Somewhere that nobody minds being found, in the reader's language. */
const elsewhere = { en: 'https://en.wikipedia.org/wiki/Main_Page', so: 'https://so.wikipedia.org/wiki/' };

/**
 * Leaves at once for a neutral page and forgets the draft. boot.ts does it, so that it works before the application
 * is loaded, and in the page's own place in the history: the back button does not lead to it. An older visit may
 * still be there, and has forgotten the draft, too (use-draft.ts).
 */
export function QuickExit() {
  const { exit, exitHint } = useText('layout');
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 print:hidden">
      <a
        href={elsewhere[useLanguage()]}
        data-quick-exit
        rel="noreferrer"
        className={buttonVariants({ variant: 'henna' })}
      >
        <LogOut aria-hidden />
        {exit}
      </a>
      <span className="text-muted-foreground text-sm">{exitHint}</span>
    </p>
  );
}
