import { setMailLanguage, signOut } from '@desk/backend/session';
import { Button } from '@desk/components/button';
import { LanguageSwitch } from '@desk/components/language-switch';
import { Loading } from '@desk/components/loading';
import { Mark } from '@desk/components/mark';
import { message } from '@desk/components/message';
import { useText } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { useAccess } from '@desk/session/access';
import { LogOut } from 'lucide-react';
import { Suspense, useEffect } from 'react';
import { Outlet, useLocation } from 'react-router-dom';
import { Navigation } from './navigation';
import { OfflineNotice } from './offline-notice';
import { screenAt } from './screens';

/** The frame of every screen: navigation at the side, on small screens at the bottom. */
export function Shell() {
  const text = useText();
  const { role, name, email } = useAccess();
  const current = screenAt(useLocation().pathname);
  useEffect(() => {
    document.title = current ? `${text.nav[current.name]} · Daawo` : 'Daawo';
  }, [current, text]);
  const [mailbox, domain] = email?.split('@') ?? [];
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <button
        type="button"
        className="no-print bg-card sr-only rounded p-2 focus:not-sr-only focus:absolute focus:z-20"
        onClick={() => document.getElementById('main')?.focus()}
      >
        {text.skip}
      </button>
      <header className="no-print bg-card flex items-center gap-2 border-b px-3 py-1 md:sticky md:top-0 md:h-dvh md:w-48 md:flex-col md:items-stretch md:border-r md:border-b-0 md:px-3 md:py-4">
        <p className="flex flex-1 items-center gap-2 font-semibold md:mb-4 md:flex-none md:px-2">
          <Mark /> {text.desk}
        </p>
        <Navigation role={role} />
        <div className="flex md:mt-auto md:flex-col md:items-start">
          <LanguageSwitch
            onChoose={(next) =>
              void setMailLanguage(next).catch((error) => toast.error(text.failed(message(error, text))))
            }
          />
          <Button variant="ghost" onClick={() => signOut('local')}>
            <LogOut aria-hidden="true" className="size-4!" />
            <span className="max-sm:sr-only">{text.signOut}</span>
          </Button>
          <p className="text-muted-foreground hidden px-3 pt-2 text-xs wrap-anywhere md:block">
            {name || (
              <>
                {mailbox}
                <wbr />@{domain}
              </>
            )}
            <br />
            {text.roles[role]}
          </p>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 p-3 pb-20 outline-none md:p-5">
        <OfflineNotice />
        {current && !current.roles.includes(role) ? (
          <p role="alert">{text.denied}</p>
        ) : (
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        )}
      </main>
    </div>
  );
}
