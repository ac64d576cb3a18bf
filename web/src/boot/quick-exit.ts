/* Quick exit: a click on it, or the third Escape, hides the page, deletes the draft and opens another site. */
import { available } from '../backend/available';
import { deleteDraft, storage } from './stored-draft';

addEventListener(
  'click',
  (event) => {
    const exit = (event.target as Element).closest<HTMLAnchorElement>('[data-quick-exit]');
    if (!exit) return;
    event.preventDefault();
    leave(exit.href);
  },
  true,
);

/**
 * Returns a listener by which the third Escape within five seconds each leaves the page, except those that close a list,
 * a dialog or the menu. The element after the link announces the first two.
 */
function escapeCounter() {
  let escapes = 0;
  let forget: ReturnType<typeof setTimeout>;
  return (event: KeyboardEvent) => {
    const exit = document.querySelector<HTMLAnchorElement>('[data-quick-exit]');
    const closes = document.querySelector('[role=listbox],[role=dialog],header [open]');
    if (!exit || closes || event.key !== 'Escape' || event.repeat) return;
    const status = exit.nextElementSibling as HTMLElement;
    const say = (words = '') => {
      status.textContent = words;
    };
    clearTimeout(forget);
    if (++escapes > 2) {
      event.preventDefault(); // the browser would stop loading the other page
      return leave(exit.href);
    }
    say(status.dataset.steps?.split('|')[escapes - 1]);
    forget = setTimeout(() => {
      escapes = 0;
      say();
    }, 5e3);
  };
}
addEventListener('keydown', escapeCounter(), true);

/**
 * Hides the page, deletes the draft and the kept list of resources, and replaces the history entry with another site's
 * page. `left` makes the pages of this site that are still in the history leave too, when the reader or another user of
 * the device goes back to them.
 */
function leave(href: string) {
  show(false);
  deleteDraft();
  storage.left = href;
  available(() => localStorage).clear?.();
  location.replace(href);
}

function show(visible: boolean) {
  document.documentElement.style.visibility = visible ? '' : 'hidden';
}

// A page in the back/forward cache is hidden, so that it cannot be seen before it leaves.
addEventListener('pagehide', () => show(false));
addEventListener('pageshow', ({ persisted }: PageTransitionEvent) => {
  if (!persisted) return;
  show(true);
  arrive(true);
});
arrive(performance.navigation?.type === 2);

function arrive(byHistory: boolean) {
  const { left } = storage;
  if (left && byHistory) leave(left);
  else delete storage.left;
}
