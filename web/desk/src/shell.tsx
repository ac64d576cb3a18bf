import {
  ChartColumn,
  CircleUser,
  FileText,
  History,
  Inbox as InboxIcon,
  LogOut,
  type LucideIcon,
  ServerCog,
  Users,
} from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { NavLink, Outlet, useLocation } from 'react-router-dom';
import { cn } from '@/components/cn';
import { type Role, signOut } from './backend/session';
import { Button, Loading } from './components/ui';
import { useLanguage } from './i18n/language';
import { Mark } from './screens/entry/entry';
import { useAccess } from './session-gate';

type Screen = 'reports' | 'resources' | 'figures' | 'staff' | 'trail' | 'system' | 'account';

const screens: { name: Screen; icon: LucideIcon; roles: Role[] }[] = [
  { name: 'reports', icon: InboxIcon, roles: ['reviewer', 'owner'] },
  { name: 'resources', icon: FileText, roles: ['editor', 'owner'] },
  { name: 'figures', icon: ChartColumn, roles: ['reviewer', 'editor', 'owner'] },
  { name: 'staff', icon: Users, roles: ['owner'] },
  { name: 'trail', icon: History, roles: ['owner'] },
  { name: 'system', icon: ServerCog, roles: ['owner'] },
  { name: 'account', icon: CircleUser, roles: ['reviewer', 'editor', 'owner'] },
];

/** The frame of every screen: navigation at the side, on small screens at the bottom. */
export function Shell() {
  const { text, setLanguage } = useLanguage();
  const access = useAccess();
  const path = useLocation().pathname;
  const other = text.otherLanguage as 'en' | 'so';
  const current = screens.find((s) => path.startsWith(`/${s.name}`));
  useEffect(() => {
    document.title = current ? `${text.nav[current.name]} · Daawo` : 'Daawo';
  }, [current, text]);
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <button
        type="button"
        className="bg-card sr-only rounded p-2 focus:not-sr-only focus:absolute focus:z-20"
        onClick={() => document.getElementById('main')?.focus()}
      >
        {text.skip}
      </button>
      <header className="no-print bg-card flex items-center gap-2 border-b px-3 py-1 md:sticky md:top-0 md:h-dvh md:w-48 md:flex-col md:items-stretch md:border-r md:border-b-0 md:px-3 md:py-4">
        <p className="flex flex-1 items-center gap-2 font-semibold md:mb-4 md:flex-none md:px-2">
          <Mark /> {text.desk}
        </p>
        <Navigation role={access.role} />
        <div className="flex md:mt-auto md:flex-col md:items-start">
          <Button variant="ghost" lang={other} onClick={() => setLanguage(other)}>
            {text.switchLanguage}
          </Button>
          <Button variant="ghost" onClick={() => signOut('local')}>
            <LogOut aria-hidden="true" className="size-4!" />
            <span className="max-sm:sr-only">{text.signOut}</span>
          </Button>
          <p className="text-muted-foreground hidden px-3 pt-2 text-xs break-all md:block">
            {access.email}
            <br />
            {text.roles[access.role]}
          </p>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 p-3 pb-20 outline-none md:p-5">
        <OfflineNotice />
        {current && !current.roles.includes(access.role) ? (
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

function Navigation({ role }: { role: Role }) {
  const { text } = useLanguage();
  return (
    <nav
      aria-label={text.menu}
      className="bg-card fixed inset-x-0 bottom-0 z-10 flex overflow-x-auto border-t md:static md:flex-col md:gap-0.5 md:overflow-visible md:border-0"
    >
      {screens
        .filter((s) => s.roles.includes(role))
        .map(({ name, icon: Icon }) => (
          <NavLink
            key={name}
            to={`/${name}`}
            className={({ isActive }) =>
              cn(
                'flex min-h-12 min-w-13 flex-1 flex-col items-center justify-center gap-0.5 px-0.5 text-[11px] md:min-h-9 md:flex-none md:flex-row md:justify-start md:gap-2.5 md:rounded-md md:px-2 md:text-sm',
                isActive ? 'text-primary md:bg-primary-soft font-semibold' : 'hover:bg-muted',
              )
            }
          >
            <Icon aria-hidden="true" className="size-4.5" />
            {text.nav[name]}
          </NavLink>
        ))}
    </nav>
  );
}

function OfflineNotice() {
  const { text } = useLanguage();
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return (
    <div role="status">
      {!online && <p className="bg-sun-soft text-sun-ink mb-3 rounded-lg p-2">{text.offline}</p>}
    </div>
  );
}
