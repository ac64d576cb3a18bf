/* The only script of a page without a form or a list, inlined in it. It does not load the application. */
import { deleteDraft } from './boot';
import { app, fast } from './boot-start';

// The page after a stored form post deletes the draft, but not when the reader returns to it: there may be a new draft.
// (performance.getEntriesByType('navigation') is newer, and 20 bytes longer on each page.)
if (document.querySelector('[data-sent]') && !performance.navigation?.type) deleteDraft();

// The form and the list need the application: fetch it, without starting it, when the reader points at a link to them.
if (fast)
  for (const type of ['focusin', 'pointerover'])
    addEventListener(type, ({ target }) => {
      if ((target as Element).closest?.('a[href$="/report/"],a[href$="/resources/"]'))
        import(/* @vite-ignore */ app).catch(() => {});
    });

if (document.querySelector('[data-missing]')) {
  const { pathname } = location;
  console.error('404: no page at', pathname);
  // The 404 page is prerendered without its path.
  const other = document.querySelector<HTMLAnchorElement>('header a[hreflang]');
  if (other) other.href = other.hreflang === 'so' ? `/so${pathname}` : pathname.slice(3);
}
