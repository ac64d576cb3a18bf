import { LogOut } from 'lucide-react';
import { useLocation } from 'react-router-dom';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

/** A neutral page in each language. */
const neutralPages = { en: 'https://en.wikipedia.org/wiki/Main_Page', so: 'https://so.wikipedia.org/wiki/' };

/** The pages about skin creams, pregnancy and women's health, and the report. */
const confidential = /\/(women-health|report|skin-cream-dangers|pregnancy-medicine)\//;

/**
 * A link that goes to a neutral page and deletes the draft, also when Escape is pressed three times. It is part of the
 * header, so it is always visible. boot/quick-exit.ts implements it, so it works before the application is loaded, and
 * announces the first two key presses in the element after the link.
 */
export function QuickExit() {
  const language = useLanguage();
  const { exit, exitHint, exitSteps } = useText('layout');
  if (!confidential.test(useLocation().pathname)) return null;
  return (
    <div className="bg-henna text-background print:hidden">
      <a
        href={neutralPages[language]}
        data-quick-exit
        rel="noreferrer"
        className="page flex min-h-11 items-center gap-2 font-semibold underline-offset-4 hover:underline"
      >
        <LogOut aria-hidden className="size-5 shrink-0" />
        {exit}
        <span className="hidden text-sm md:block">{exitHint}</span>
      </a>
      <p
        role="status"
        data-steps={exitSteps}
        className="page"
        suppressHydrationWarning
        // biome-ignore lint/security/noDangerouslySetInnerHtml: React leaves the text to boot/quick-exit.ts, which may have set it before hydration
        dangerouslySetInnerHTML={{ __html: '' }}
      />
    </div>
  );
}
