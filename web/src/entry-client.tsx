import '@/index.css';
import { StrictMode, startTransition, useEffect } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router-dom';
import { hasSessionToTakeUp } from '@/backend/has-session';
import { isMissingPart } from '@/layout/full-styles';
import { routes } from '@/routes';

// A task of its own: by now this one has read and run all that the application consists of.
await new Promise<void>((done, failed) => setTimeout(() => comeAlive().then(done, failed)));

// Boot repeats the touch that started the application, so this module is done only when the page is live.
async function comeAlive() {
  // The client reads the address and refreshes what is stored when it is made.
  if (hasSessionToTakeUp()) import('@/backend/client').then(({ supabase }) => supabase()).catch(() => {});

  const router = createBrowserRouter(routes);
  await firstPageLoaded(router);

  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no #root');

  if (router.state.errors && root.hasChildNodes()) {
    // Some of the page's code did not arrive. The prerendered page stays as it is: readable, with plain links.
    router.dispose();
    throw new Error('The application could not start', { cause: router.state.errors });
  }
  router.subscribe(({ errors, location: next }) => {
    // A screen's code did not arrive (offline, or a new release): its prerendered page may still be had.
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
    // In a transition React works in slices and lets the reader's touches in between.
    startTransition(() => {
      if (root.hasChildNodes()) hydrateRoot(root, app);
      else createRoot(root).render(app);
    });
  });
  document.documentElement.dataset.live = '';
}

/** Resolves when the first page's code, words and data are there: only then does hydration match. */
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
