import { Menu } from 'lucide-react';
import { useRef } from 'react';
import { Link, NavLink } from '@/components/link';
import { QuickExit } from '@/components/quick-exit';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { LanguageSwitch } from './language-switch';
import { Logo } from './logo';
import { headerLinks } from './navigation';

export function Header() {
  const language = useLanguage();
  const text = useText('layout');
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => menu.current?.removeAttribute('open');

  return (
    <header className="bg-background short:-top-16 sticky top-0 z-40 border-b">
      <div className="page flex min-h-16 flex-wrap items-center gap-x-2">
        <Link
          to={pathIn(language, '/')}
          className="flex min-h-11 items-center gap-2 font-serif text-xl font-semibold"
        >
          <Logo className="size-9" />
          {text.siteName}
        </Link>
        <nav aria-label={text.mainNavigation} className="ms-auto hidden lg:block">
          <NavigationLinks className="flex flex-wrap" />
        </nav>
        <LanguageSwitch className="ms-auto lg:ms-0" />
        <details ref={menu} className="lg:hidden">
          <summary className="flex min-h-11 cursor-pointer list-none items-center gap-2 rounded-lg border px-3 font-semibold hover:bg-muted">
            <Menu aria-hidden className="size-5" />
            <span className="max-xs:sr-only">{text.menu}</span>
          </summary>
          <nav
            aria-label={text.mainNavigation}
            className="bg-card absolute inset-x-0 top-full max-h-[calc(100dvh-100%)] overflow-y-auto border-y p-3"
          >
            <NavigationLinks className="grid gap-1" onChoose={close} />
          </nav>
        </details>
      </div>
      <QuickExit />
    </header>
  );
}

function NavigationLinks({ className, onChoose }: { className: string; onChoose?: () => void }) {
  const language = useLanguage();
  const { nav } = useText('layout');
  return (
    <ul className={className}>
      {headerLinks.map(({ path, name }) => (
        <li key={path}>
          <NavLink to={pathIn(language, path)} end={path === '/'} onClick={onChoose} className="nav-link">
            {nav[name]}
          </NavLink>
        </li>
      ))}
    </ul>
  );
}
