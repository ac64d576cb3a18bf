/*
 * The only script of a prerendered page, inlined in it. It loads the application when there is a reason to:
 * at once where a session is waiting, after the first paint where the page needs it, when idle on a fast
 * unmetered line, and otherwise at the first touch of a control that does nothing without it; that touch is
 * then repeated.
 * What must work before that (leaving quickly, alerts, offline reading, a draft's end) it sees to itself.
 */
import { hasSessionToTakeUp } from './backend/has-session';

const script = document.currentScript as HTMLScriptElement;
const { app = '', preload = '', css = '', late } = script.dataset;
const connection = (navigator as { connection?: { effectiveType?: string; saveData?: boolean } }).connection;

let started: Promise<unknown> | undefined;
let ready = false;
const held = new Set<HTMLButtonElement>();

function start() {
  if (started) return started;
  for (const href of preload.split(' ')) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
  }
  started = import(/* @vite-ignore */ app).then(() => {
    ready = true;
  });
  started.catch(() => {
    started = undefined; // a dropped line: the next touch tries again
  });
  return started;
}

/** Holds a press back that only the application can answer, loads it, and repeats the press, once for many. */
function hold(event: Event, button: HTMLButtonElement) {
  event.preventDefault();
  event.stopPropagation();
  if (held.has(button)) return;
  held.add(button);
  start().then(
    () => button.click(),
    () => {
      held.delete(button);
      const { form } = button;
      if (!form || button.type !== 'submit') return;
      if (navigator.onLine) form.requestSubmit(button);
      else alert(form.dataset.offline);
    },
  );
}

addEventListener(
  'click',
  (event) => {
    const target = event.target as Element;
    const exit = target.closest<HTMLAnchorElement>('[data-quick-exit]');
    if (exit) {
      event.preventDefault();
      forget();
      return location.replace(exit.href);
    }
    const speaking = target.closest<HTMLElement>('[data-alert]');
    if (speaking) return alert(speaking.dataset.alert);
    const button = target.closest('button');
    if (button?.closest('[data-live]') && !ready) hold(event, button);
  },
  true,
);

function forget() {
  try {
    sessionStorage.clear();
  } catch {
    // the browser forbids storage
  }
}

// Where a plain post leads once it is stored, its draft ends. Who comes back there may have begun another. (The newer way
// to ask how somebody came costs each page 20 bytes more.)
if (document.querySelector('[data-sent]') && !performance.navigation?.type) forget();

// A draft ends after thirty idle minutes (offline/draft.ts) on whatever page its reader went to, and after any sleep.
setInterval(() => {
  try {
    const { savedAt } = JSON.parse(sessionStorage['daawo.report-draft']);
    if (Date.now() - savedAt > 18e5) forget();
  } catch {
    // there is none, or the browser forbids storage
  }
}, 6e4);

addEventListener('focusin', ({ target }) => {
  if ((target as Element).closest('[data-live]')) start();
  // Left open, the menu would lie over what has the focus.
  const menu = document.querySelector<HTMLDetailsElement>('header [open]');
  if (menu) menu.open = menu.contains(target as Element);
});

if (hasSessionToTakeUp()) start();
else if (document.querySelector('[data-live=now]')) {
  // An application that arrives before the page's own words are seen would hold them back. In the background nothing is
  // painted.
  if (document.hidden) start();
  else requestAnimationFrame(() => setTimeout(start));
}
addEventListener('load', () => {
  if (connection?.effectiveType === '4g' && !connection.saveData) idle(start);
  idle(keepForOffline);
});

if (document.querySelector('[data-missing]')) console.error('404: no page at', location.pathname);

function idle(run: () => void) {
  window.requestIdleCallback?.(run, { timeout: 3000 }) ?? setTimeout(run, 1000); // Safari has none
}

/** Each language has its own worker, below its own root, which keeps the pages of that language. */
async function keepForOffline() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  await workers.register(`${document.documentElement.lang === 'so' ? '/so' : ''}/sw.js`);
  const { active } = await workers.ready;
  const files = performance.getEntriesByType('resource').map(({ name }) => name);
  // What a form or a list may still need, so that it works when the line is gone; not where each byte is counted.
  if (late && !connection?.saveData) files.push(app, css, ...`${preload} ${late}`.split(' '));
  active?.postMessage(files);
}
