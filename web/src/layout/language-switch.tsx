import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router-dom';
import { cn } from '@/components/cn';
import { otherLanguage, pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

/**
 * A plain link: it works before any script, and a new document loads one language's words only.
 * The form's draft survives in the tab's session storage.
 */
export function LanguageSwitch({ className }: { className?: string }) {
  const { pathname } = useLocation();
  const other = otherLanguage(useLanguage());
  const text = useText('layout');
  const link = useRef<HTMLAnchorElement>(null);
  const href = pathIn(other, pathname);

  // A missing page is prerendered once, for no path in particular: hydration leaves such an attribute alone.
  useEffect(() => link.current?.setAttribute('href', href), [href]);

  return (
    <a
      ref={link}
      href={href}
      suppressHydrationWarning
      hrefLang={other}
      lang={other}
      className={cn(
        'flex min-h-11 items-center gap-2 rounded-lg border px-3 font-semibold hover:bg-muted',
        className,
      )}
    >
      <span className="text-sm uppercase">{other}</span>
      <span className="sr-only xl:not-sr-only">{text.switchLanguage}</span>
    </a>
  );
}
