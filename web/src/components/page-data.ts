import { createContext, use } from 'react';

/** What the screen's `data` in routes.tsx has loaded. */
export const PageDataContext = createContext<unknown>(undefined);

export function usePageData<Data>() {
  return use(PageDataContext) as Data;
}
