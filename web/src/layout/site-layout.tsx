import { Outlet, ScrollRestoration } from 'react-router-dom';
import { useText } from '@/i18n/text';
import { Footer } from './footer';
import { Header } from './header';

export function SiteLayout() {
  const text = useText('layout');
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#main"
        className="bg-primary text-primary-foreground fixed top-2 left-2 z-50 -translate-y-20 rounded-lg px-4 py-3 font-semibold focus:translate-y-0"
      >
        {text.skip}
      </a>
      <Header />
      <main id="main" tabIndex={-1} className="flex-1 outline-none">
        <Outlet />
      </main>
      <Footer />
      <ScrollRestoration />
    </div>
  );
}
