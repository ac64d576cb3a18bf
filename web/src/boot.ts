/*
 * The only script of a prerendered page, inlined in it. It loads the application:
 * - at once if there is a session to restore,
 * - after the first paint if the page needs it ([data-live=now]),
 * - when idle on a fast unmetered connection,
 * - otherwise at the first use of a control that needs it; it then repeats the click.
 * It also handles what must work before that: quick exit, alerts, offline reading and the end of a draft.
 */
import { hasSessionToRestore } from './backend/has-session';
import { loadOnce } from './lib/load-once';
import { draftKey, draftLife } from './offline/draft-storage';

const script = document.currentScript as HTMLScriptElement;
const { app = '', preload = '', css = '', late } = script.dataset;
const connection = (navigator as { connection?: { effectiveType?: string; saveData?: boolean } }).connection;

/** Loads the application. After a failure the next use of a control tries again. */
const start = loadOnce(() => {
  for (const href of preload.match(/\S+/g) ?? []) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
  }
  return import(/* @vite-ignore */ app);
});

/** Returns a function that holds a click back, loads the application and repeats the click, once for several clicks. */
function clickHolder() {
  const held = new Set<HTMLButtonElement>();
  return (event: Event, button: HTMLButtonElement) => {
    event.preventDefault();
    event.stopPropagation();
    if (held.has(button)) return;
    held.add(button);
    start().then(
      () => button.click(),
      () => {
        held.delete(button);
        if (button.type !== 'submit') return;
        if (navigator.onLine) button.form?.requestSubmit(button);
        else alert(button.form?.dataset.offline);
      },
    );
  };
}
const hold = clickHolder();

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
    if (alerting) return alert(alerting.dataset.alert);
    // The application sets data-live on <html> (entry-client.tsx).
    const button = target.closest<HTMLButtonElement>('html:not([data-live]) [data-live] button');
    if (button) hold(event, button);
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

// The third Escape within five seconds each leaves the page, except those that close a list, a dialog or the menu. The
// element after the link announces the first two.
let escapes = 0;
let forget: ReturnType<typeof setTimeout>;
addEventListener(
  'keydown',
  (event: KeyboardEvent) => {
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
  },
  true,
);

/**
 * Hides the page, deletes the draft and replaces the history entry with another site's page. `left` makes the pages of
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
  try {
    const { left } = sessionStorage;
    if (left && byHistory) leave(left);
    else delete sessionStorage.left;
  } catch {
    // the browser forbids storage
  }
}

function deleteDraft(left?: string) {
  try {
    sessionStorage.clear();
    if (left) sessionStorage.left = left;
  } catch {
    // the browser forbids storage
  }
}

// The page after a stored form post deletes the draft, but not when the reader returns to it: there may be a new draft.
// (performance.getEntriesByType('navigation') is newer, and 20 bytes longer on each page.)
if (document.querySelector('[data-sent]') && !performance.navigation?.type) deleteDraft();

// Delete an expired draft on pages without the form too, and after the device has slept.
setInterval(() => {
  try {
    const { savedAt } = JSON.parse(sessionStorage[draftKey]);
    if (Date.now() - savedAt > draftLife) deleteDraft();
  } catch {
    // no draft, or the browser forbids storage
  }
}, 6e4);

addEventListener('focusin', ({ target }) => {
  if ((target as Element).closest('[data-live]')) start();
  // Close the menu when the focus leaves it: it would cover the focused element.
  const menu = document.querySelector<HTMLDetailsElement>('header [open]');
  if (menu) menu.open = menu.contains(target as Element);
});

if (hasSessionToRestore()) start();
else if (document.querySelector('[data-live=now]')) {
  // Starting earlier would delay the first paint. A page in the background is not painted.
  if (document.hidden) start();
  else requestAnimationFrame(() => setTimeout(start));
}
addEventListener('load', () => {
  if (connection?.effectiveType === '4g' && !connection.saveData) whenIdle(start);
  whenIdle(keepForOffline);
});

if (document.querySelector('[data-missing]')) console.error('404: no page at', location.pathname);

function whenIdle(run: () => void) {
  window.requestIdleCallback?.(run, { timeout: 3000 }) ?? setTimeout(run, 1000); // Safari has no requestIdleCallback
}

/** Registers the service worker of the page's language and sends it the files to keep. */
async function keepForOffline() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  await workers.register(`${document.documentElement.lang === 'so' ? '/so' : ''}/sw.js`);
  const { active } = await workers.ready;
  const files = performance.getEntriesByType('resource').map(({ name }) => name);
  // Also the parts that a form or a list loads late, unless the reader saves data.
  if (late && !connection?.saveData) files.push(app, css, ...preload.split(' '), ...late.split(' '));
  active?.postMessage(files);
}
