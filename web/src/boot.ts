/*
 * The only script of a prerendered page, inlined in it. It loads the application when there is a reason
 * to: at once where the page needs it or a session is waiting, when idle on a fast unmetered line, and
 * otherwise at the first touch of a control that does nothing without it; that touch is then repeated.
 * What must work before that (leaving quickly, alerts) it does itself.
 */
const script = document.currentScript as HTMLScriptElement;
const { app, css, preload = '' } = script.dataset;
const live = '[data-live]';

let started: Promise<unknown> | undefined;
let ready = false;

function link(attributes: Partial<HTMLLinkElement>) {
  document.head.append(Object.assign(document.createElement('link'), attributes));
}

function start() {
  if (started || !app) return started;
  for (const href of preload.split(' ').filter(Boolean)) link({ rel: 'modulepreload', href });
  if (css) link({ rel: 'stylesheet', href: css });
  started = import(/* @vite-ignore */ app).then(() => {
    ready = true;
  });
  started.catch(() => {
    started = undefined; // offline, or a dropped line: the next touch tries again
  });
  return started;
}

/** Loads the application for an event that it should have handled, then lets the event happen again. */
function later(event: Event, target: Element, again: () => void) {
  if (ready || !target.closest(live)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  start()?.then(again, again);
}

addEventListener(
  'click',
  (event) => {
    const target = event.target as HTMLElement;
    const exit = target.closest<HTMLAnchorElement>('a[data-quick-exit]');
    if (exit) {
      event.preventDefault();
      sessionStorage.clear();
      location.replace(exit.href);
      return;
    }
    const alerting = target.closest<HTMLElement>('[data-alert]');
    if (alerting) alert(alerting.dataset.alert);
    const button = target.closest<HTMLElement>('button');
    if (button && button.type !== 'submit') later(event, button, () => button.click());
  },
  true,
);

addEventListener(
  'submit',
  (event) => {
    const form = event.target as HTMLFormElement;
    later(event, form, () => (ready ? form.requestSubmit() : form.submit()));
  },
  true,
);

addEventListener('focusin', (event) => {
  if ((event.target as Element).closest?.(live)) start();
});

const { connection } = navigator as { connection?: { effectiveType?: string; saveData?: boolean } };
const fast = connection?.effectiveType === '4g' && !connection.saveData;
const signedIn = /[#?&](access_token|code|error_description)=/.test(location.href) || hasSession();

function hasSession() {
  try {
    return Object.keys(localStorage).some((key) => /^sb-.+-auth-token$/.test(key));
  } catch {
    return false; // storage is forbidden in this browser
  }
}

if (signedIn || document.querySelector('[data-live=now]')) start();
else if (fast) addEventListener('load', () => idle(start));

function idle(run: () => void) {
  // Safari has no requestIdleCallback
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: 4000 });
  else setTimeout(run, 1500);
}

const missing = document.querySelector('[data-missing]');
if (missing) console.error('404: no page at', location.pathname);

const { saveData } = connection ?? {};
if ('serviceWorker' in navigator && !saveData) {
  addEventListener('load', () =>
    idle(() => {
      const home = document.documentElement.lang === 'so' ? '/so/' : '/';
      navigator.serviceWorker.register(`${home}sw.js`);
    }),
  );
}

export {};
