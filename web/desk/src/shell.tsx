import {
  ChartColumn,
  CircleUser,
  Ellipsis,
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
        className="no-print bg-card sr-only rounded p-2 focus:not-sr-only focus:absolute focus:z-20"
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
          <p className="text-muted-foreground hidden px-3 pt-2 text-xs wrap-anywhere md:block">
            {access.email?.split('@')[0]}
            <wbr />@{access.email?.split('@')[1]}
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

/** Screens that fit beside each other at the bottom of a phone of 320 px. */
const fit = 5;

const item =
  'flex min-h-12 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 px-0.5 text-[11px] max-md:tracking-tight md:min-h-9 md:flex-none md:flex-row md:justify-start md:gap-2.5 md:rounded-md md:px-2 md:text-sm';

/** The links to the screens. On small screens those that do not fit are behind a button. */
function Navigation({ role }: { role: Role }) {
  const { text } = useLanguage();
  const path = useLocation().pathname;
  const [openAt, setOpenAt] = useState<string>();
  const open = openAt === path; // a link that was followed closes the list
  const mine = screens.filter((s) => s.roles.includes(role));
  const first = mine.length > fit ? fit - 1 : fit;
  const rest = mine.slice(first);
  const within = rest.some((s) => path.startsWith(`/${s.name}`));
  return (
    <nav
      aria-label={text.menu}
      onKeyDown={(e) => e.key === 'Escape' && setOpenAt(undefined)}
      className="bg-card fixed inset-x-0 bottom-0 z-10 flex border-t md:static md:flex-col md:gap-0.5 md:border-0"
    >
      {mine.map((screen, i) => (
        <ScreenLink key={screen.name} screen={screen} className={cn(item, i >= first && 'max-md:hidden')} />
      ))}
      {rest.length > 0 && (
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpenAt(open ? undefined : path)}
          className={cn(item, 'cursor-pointer md:hidden', within && 'text-primary')}
        >
          <Ellipsis aria-hidden="true" className="size-4.5" />
          {text.more}
        </button>
      )}
      {open && (
        <div className="bg-card absolute right-2 bottom-14 flex min-w-44 flex-col rounded-lg border p-1 shadow-lg md:hidden">
          {rest.map((screen) => (
            <ScreenLink
              key={screen.name}
              screen={screen}
              className="flex min-h-11 items-center gap-3 rounded-md px-3"
            />
          ))}
        </div>
      )}
    </nav>
  );
}

function ScreenLink({ screen, className }: { screen: (typeof screens)[number]; className: string }) {
  const { text } = useLanguage();
  const Icon = screen.icon;
  return (
    <NavLink
      to={`/${screen.name}`}
      className={({ isActive }) =>
        cn(className, isActive ? 'text-primary md:bg-primary-soft md:font-semibold' : 'hover:bg-muted')
      }
    >
      <Icon aria-hidden="true" className="size-4.5" />
      {text.nav[screen.name]}
    </NavLink>
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
