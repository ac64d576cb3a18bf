import { useState } from 'react';
import { Outlet } from 'react-router-dom';
import { LateToaster } from '@/components/toast';
import { KeptValues } from '@/components/use-kept';
import { useText } from '@/i18n/text';
import { Footer } from './footer';
import { Header } from './header';
import { useArrival } from './use-arrival';

export function SiteLayout() {
  const text = useText('layout');
  const [kept] = useState(() => new Map<string, unknown>());
  useArrival();
  return (
    <KeptValues value={kept}>
      <div className="flex min-h-dvh flex-col">
        <a
          href="#main"
          className="bg-primary text-primary-foreground fixed -top-24 left-2 z-50 rounded-lg px-4 py-3 font-semibold focus:top-2"
        >
          {text.skip}
        </a>
        <Header />
        <main id="main" tabIndex={-1} className="flex-1 outline-none">
          <Outlet />
        </main>
        <Footer />
        <LateToaster />
      </div>
    </KeptValues>
  );
}
