import type { Role } from '@desk/backend/session';
import { useText } from '@desk/i18n/language';
import {
  BookOpenCheck,
  ChartColumn,
  CircleUser,
  Ellipsis,
  FileText,
  History,
  Inbox,
  type LucideIcon,
  Network,
  ServerCog,
  Users,
} from 'lucide-react';
import { useState } from 'react';
import { NavLink, useLocation } from 'react-router-dom';
import { cn } from '@/components/cn';
import { linksOnPhone, type ScreenName, screensOf } from './screens';

const icons: Record<ScreenName, LucideIcon> = {
  reports: Inbox,
  clusters: Network,
  guides: BookOpenCheck,
  resources: FileText,
  figures: ChartColumn,
  staff: Users,
  trail: History,
  system: ServerCog,
  account: CircleUser,
};

const item =
  'flex min-h-12 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 px-0.5 text-[11px] max-md:tracking-tight md:min-h-9 md:flex-none md:flex-row md:justify-start md:gap-2.5 md:rounded-md md:px-2 md:text-sm';

/**
 * The links to the screens of a role. On small screens those that do not fit are behind a button.
 */
export function Navigation({ role }: { role: Role }) {
  const text = useText();
  const path = useLocation().pathname;
  const [openAt, setOpenAt] = useState<string>();
  const open = openAt === path; // a followed link closes the list
  const names = screensOf(role).map(({ name }) => name);
  const first = linksOnPhone(names.length);
  const rest = names.slice(first);
  const within = rest.some((name) => path.startsWith(`/${name}`));
  return (
    <nav
      aria-label={text.menu}
      onKeyDown={(e) => e.key === 'Escape' && setOpenAt(undefined)}
      className="bg-card fixed inset-x-0 bottom-0 z-10 flex border-t md:static md:flex-col md:gap-0.5 md:border-0"
    >
      {names.map((name, i) => (
        <ScreenLink key={name} name={name} className={cn(item, i >= first && 'max-md:hidden')} />
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
          {rest.map((name) => (
            <ScreenLink key={name} name={name} className="flex min-h-11 items-center gap-3 rounded-md px-3" />
          ))}
        </div>
      )}
    </nav>
  );
}

function ScreenLink({ name, className }: { name: ScreenName; className: string }) {
  const text = useText();
  const Icon = icons[name];
  return (
    <NavLink
      to={`/${name}`}
      className={({ isActive }) =>
        cn(className, isActive ? 'text-primary md:bg-primary-soft md:font-semibold' : 'hover:bg-muted')
      }
    >
      <Icon aria-hidden="true" className="size-4.5" />
      {text.nav[name]}
    </NavLink>
  );
}
