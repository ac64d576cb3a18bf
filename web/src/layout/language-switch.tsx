import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router-dom';
import { cn } from '@/components/cn';
import { otherLanguage, pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

/**
 * A link to the same page in the other language. It loads a new document, so it works without JavaScript and a document
 * has the texts of one language. The draft of the form survives in sessionStorage.
 */
export function LanguageSwitch({ className }: { className?: string }) {
  const { pathname } = useLocation();
  const other = otherLanguage(useLanguage());
  const text = useText('layout');
  const link = useRef<HTMLAnchorElement>(null);
  const href = pathIn(other, pathname);

  // The 404 page is prerendered without its path, and hydration does not change attributes.
  useEffect(() => link.current?.setAttribute('href', href), [href]);

  return (
    <a
      ref={link}
      href={href}
      suppressHydrationWarning
      hrefLang={other}
      lang={other}
      className={cn(
        'flex min-h-11 min-w-11 items-center gap-2 rounded-lg border px-3 font-semibold hover:bg-muted',
        className,
      )}
    >
      <span className="text-sm uppercase">{other}</span>
      <span className="max-xl:sr-only">{text.switchLanguage}</span>
    </a>
  );
}
