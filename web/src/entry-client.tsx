import '@/index.css';
import { StrictMode, startTransition, useEffect } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router-dom';
import { Application } from '@/application';
import { hasSessionToRestore } from '@/backend/has-session';
import { partLoader } from '@/lib/load-part';
import { loadPage, Pages } from '@/routes';

Object.assign(globalThis, { loadPart: partLoader() }); // the build calls it in place of import()

/**
 * Resolves when the page is live (boot/live-page.ts then repeats the click that started the application). Rejects if a part
 * of the page could not be loaded; a later call tries again. A failure while this module is evaluated could not be
 * repeated, because the browser keeps it.
 */
export async function hydrate() {
  // In a task of its own, because parsing the code has already taken one.
  await new Promise((done) => setTimeout(done));
  // The service worker shows the offline page at the address of another page.
  if (document.querySelector('[data-offline-page]')) return;
  // When it is created, the client reads the address and refreshes the stored session.
  if (hasSessionToRestore()) import('@/backend/client').then(({ supabase }) => supabase()).catch(() => {});

  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no #root');
  // Hydration would not match before the code, texts and data of the page are there. Without them the prerendered page
  // stays usable, with plain links.
  const { pathname } = location;
  const first = await loadPage(pathname).catch((cause) => {
    throw new Error('The application could not start', { cause });
  });
  const pages = new Pages(pathname, first);
  await new Promise<void>((resolve) => {
    const app = (
      <StrictMode>
        <BrowserRouter>
          <Application pages={pages} />
        </BrowserRouter>
        <Effect run={resolve} />
      </StrictMode>
    );
    // In a transition React works in slices and handles input between them.
    startTransition(() => {
      if (root.hasChildNodes()) hydrateRoot(root, app);
      else createRoot(root).render(app);
    });
  });
  document.documentElement.dataset.live = '';
  delete document.documentElement.dataset.failed; // the parts have arrived after boot/live-page.ts had given them up
}

if (import.meta.env.DEV) {
  document.documentElement.dataset.started = ''; // as boot/live-page.ts does
  void hydrate();
}

function Effect({ run }: { run: () => void }) {
  useEffect(run, [run]);
  return null;
}
