/*
 * What every prerendered page does without the application: quick exit, alerts, offline reading and the end of a draft.
 * It loads the application only if there is a session to restore. It is a part of the page's only script, which is
 * inlined: boot-live.ts on a page with a form or a list, boot-content.ts on all others.
 */
import { hasSessionToRestore } from './backend/has-session';
import { start, whenIdle } from './boot-start';
import { draftKey, draftLife } from './offline/draft-storage';

addEventListener(
  'click',
  (event) => {
    const target = event.target as Element;
    const exit = target.closest<HTMLAnchorElement>('[data-quick-exit]');
    if (exit) {
      event.preventDefault();
      deleteDraft();
      return location.replace(exit.href);
    }
    const alerting = target.closest<HTMLElement>('[data-alert]');
    if (alerting) alert(alerting.dataset.alert);
  },
  true,
);

export function deleteDraft() {
  try {
    sessionStorage.clear();
  } catch {
    // the browser forbids storage
  }
}

// Delete an expired draft on pages without the form too, and after the device has slept.
setInterval(() => {
  try {
    const { savedAt } = JSON.parse(sessionStorage[draftKey]);
    if (Date.now() - savedAt > draftLife) deleteDraft();
  } catch {
    // no draft, or the browser forbids storage
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
