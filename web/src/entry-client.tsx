import '@/index.css';
import { StrictMode, startTransition, useEffect } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router-dom';
import { hasSessionToRestore } from '@/backend/has-session';
import { isMissingPart } from '@/layout/full-styles';
import { routes } from '@/routes';

// Hydrate in a task of its own, because parsing the code has already taken one.
await new Promise<void>((done, failed) => setTimeout(() => hydrate().then(done, failed)));

// boot.ts repeats the click that started the application when this module has finished, so wait until the page is live.
async function hydrate() {
  // When it is created, the client reads the address and refreshes the stored session.
  if (hasSessionToRestore()) import('@/backend/client').then(({ supabase }) => supabase()).catch(() => {});

  const router = createBrowserRouter(routes);
  await firstPageLoaded(router);

  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no #root');

  if (router.state.errors && root.hasChildNodes()) {
    // Some of the page's code could not be loaded. The prerendered page stays usable, with plain links.
    router.dispose();
    throw new Error('The application could not start', { cause: router.state.errors });
  }
  router.subscribe(({ errors, location: next }) => {
    // A screen's code could not be loaded (offline, or a new release). Its prerendered page may still be available.
    if (Object.values(errors ?? {}).some(isMissingPart))
      location.assign(next.pathname + next.search + next.hash);
  });
  await new Promise<void>((resolve) => {
    const app = (
      <StrictMode>
        <RouterProvider router={router} />
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
}

/** Resolves when the first page's code, texts and data are loaded. Hydration before that would not match. */
function firstPageLoaded(router: ReturnType<typeof createBrowserRouter>) {
  return new Promise<void>((resolve) => {
    if (router.state.initialized) return resolve();
    const unsubscribe = router.subscribe((state) => {
      if (!state.initialized) return;
      unsubscribe();
      resolve();
    });
  });
}

function Effect({ run }: { run: () => void }) {
  useEffect(run, [run]);
  return null;
}
