/*
 * What every prerendered page does without the application: quick exit, alerts, offline reading and the end of a draft.
 * It loads the application only if there is a session to restore. It is a part of the page's only script, which is
 * inlined in the head, so that it runs before the document has arrived: boot-live.ts on a page with a form or a list,
 * boot-missing.ts on a 404 page, boot-sent.ts after a posted form, boot-content.ts on all others.
 */

import { available } from './backend/available';
import { hasSessionToRestore } from './backend/has-session';
import { start, whenIdle } from './boot-start';
import { draftKey, draftLife } from './offline/draft-storage';

const storage = available(() => sessionStorage) as Record<string, string> & Partial<Storage>;

addEventListener(
  'click',
  (event) => {
    const target = event.target as Element;
    const exit = target.closest<HTMLAnchorElement>('[data-quick-exit]');
    if (exit) {
      event.preventDefault();
      return leave(exit.href);
    }
    const share = target.closest<HTMLElement>('[data-share]');
    if (share) return shareLink(share);
    const alerting = target.closest<HTMLElement>('[data-alert]');
    if (alerting) alert(alerting.dataset.alert);
  },
  true,
);

/** Opens the system's share sheet. Where there is none, copies the link and shows that on the button. */
function shareLink(button: HTMLElement) {
  const url = location.href;
  if (navigator.share) return void navigator.share({ url }).catch(() => {}); // the reader may close the sheet
  navigator.clipboard?.writeText(url).then(() => {
    button.textContent = button.dataset.share ?? '';
  });
}

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
 * Hides the page, deletes the draft and the kept list of resources, and replaces the history entry with another site's page. `left` makes the pages of
 * this site that are still in the history leave too, when the reader or another user of the device goes back to them.
 */
function leave(href: string) {
  show(false);
  deleteDraft(href);
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

export function deleteDraft(left?: string) {
  storage.clear?.();
  if (!left) return;
  storage.left = left;
  available(() => localStorage).clear?.();
}

// Delete an expired draft on pages without the form too, and after the device has slept.
setInterval(() => {
  try {
    const { savedAt } = JSON.parse(storage[draftKey]);
    if (Date.now() - savedAt > draftLife) deleteDraft();
  } catch {
    // no draft
  }
}, 6e4);

const openMenu = () => document.querySelector<HTMLDetailsElement>('header [open]');

// Close the menu when the focus leaves it: it would cover the focused element.
addEventListener('focusin', ({ target }) => {
  const menu = openMenu();
  if (menu) menu.open = menu.contains(target as Element);
});

addEventListener('keydown', (event) => {
  const menu = (event as KeyboardEvent).key === 'Escape' && openMenu();
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
});

if (hasSessionToRestore()) start();
addEventListener('load', () => whenIdle(() => void keepForOffline().catch(() => {})));

/**
 * Registers the service worker of the page's language (offline/service-worker.ts). The worker of Somali pages does not
 * control /, to which their language switch leads: a reader without the English worker gets a small one for that.
 */
async function keepForOffline() {
  if (!navigator.onLine) return;
  const workers = navigator.serviceWorker;
  const somali = document.documentElement.lang === 'so';
  await workers?.register(somali ? '/so/sw.js' : '/sw.js');
  if (somali && !(await workers?.getRegistration('/'))) await workers?.register('/sw.js?few');
}
