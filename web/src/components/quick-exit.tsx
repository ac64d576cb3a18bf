import { LogOut } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { buttonVariants } from './ui/button';

/** A neutral page in each language. */
const neutralPages = { en: 'https://en.wikipedia.org/wiki/Main_Page', so: 'https://so.wikipedia.org/wiki/' };

/**
 * A link that goes to a neutral page and deletes the draft. boot.ts implements it, so it works before the application
 * is loaded. It replaces the history entry, so the back button does not return to the page. An older entry of the page
 * may exist; it deletes its values too (use-draft.ts).
 */
export function QuickExit() {
  const { exit, exitHint } = useText('layout');
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 print:hidden">
      <a
        href={neutralPages[useLanguage()]}
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
