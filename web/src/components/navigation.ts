import { createContext, use } from 'react';
import type { Shown } from '@/lib/router';

/** Where the reader is, the data of the page there, and how to go elsewhere. */
interface Navigation extends Pick<Shown<unknown>, 'place' | 'arrival'> {
  data: unknown;
  navigate: (href: string) => void;
}

export const NavigationContext = createContext<Navigation>({
  place: { pathname: '/', hash: '' },
  arrival: 'document',
  data: undefined,
  navigate: () => {},
});

export function useNavigation() {
  return use(NavigationContext);
}

export function usePathname() {
  return use(NavigationContext).place.pathname;
}

/** Returns what the screen's `data` in routes.ts has loaded. */
export function usePageData<Data>() {
  return use(NavigationContext).data as Data;
}
