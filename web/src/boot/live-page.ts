/*
 * The script of a page with a control that needs the application ([data-live]), inlined in it. It loads the
 * application:
 * - at once to restore a session,
 * - after the first paint if the page needs it ([data-live=now]),
 * - when idle on a fast unmetered connection,
 * - otherwise at the first use of such a control; it then repeats the click.
 * If the application does not arrive, the form is posted without it, the list shows its error, and the next touch tries
 * again.
 */
import './every-page';
import './typed-text';
import { hasSessionToRestore } from '../backend/has-session';
import { loadOnce } from '../lib/load-once';
import { fetchFile } from '../lib/load-part';
import { fast, whenIdle } from './connection';
import { arrived } from './document-arrival';
import { start } from './start-application';

const root = document.documentElement.dataset;
root.started = '';

/** Milliseconds after which the page goes on without the application. It may still arrive later. */
const patience = 15_000;

/** The files that the application needs to start on this page, its own included, and others that it loads then. */
const { needs, wants } = (document.currentScript as HTMLScriptElement).dataset;

/** Loads the application with its files side by side. After a failure the next call tries again. */
const startFast = loadOnce(async () => {
  for (const href of wants?.split(' ') ?? []) hint({ rel: 'preload', as: 'fetch', crossOrigin: '', href });
  await Promise.all(
    (needs as string).split(' ').map(async (href) => {
      await fetchFile(href);
      hint({ rel: 'modulepreload', href }); // compiles the file while others arrive
    }),
  );
  await start();
});

function hint(link: Partial<HTMLLinkElement>) {
  document.head.append(Object.assign(document.createElement('link'), link));
}

/** Loads the application; needs no further handler. If it fails or takes too long, the page shows that (html[data-failed], resources-screen.tsx). */
function load() {
  const late = new Promise((_, reject) => setTimeout(reject, patience));
  const loading = Promise.race([startFast(), late]);
  loading.then(
    () => delete root.failed,
    () => {
      root.failed = '';
    },
  );
  return loading;
}

/** Holds a click back, loads the application and repeats the click, once for several clicks. */
function hold(event: Event, button: HTMLButtonElement) {
  event.preventDefault();
  event.stopPropagation();
  if (button.dataset.held) return;
  button.dataset.held = '1';
  load()
    .then(
      () => button.click(),
      () => {
        if (button.type !== 'submit') return;
        if (navigator.onLine) button.form?.requestSubmit(button);
        else alert(button.form?.dataset.offline);
      },
    )
    .finally(() => delete button.dataset.held);
}

addEventListener(
  'click',
  (event) => {
    // The application sets data-live on <html> (entry-client.tsx).
    const button = (event.target as Element).closest<HTMLButtonElement>(
      'html:not([data-live]) [data-live] button',
    );
    // After a failure the browser posts the form at once.
    if (button && !('failed' in root && button.type === 'submit' && navigator.onLine)) hold(event, button);
  },
  true,
);

// Safari gives no focus to a clicked button or chosen file.
for (const type of ['focusin', 'click', 'change'])
  addEventListener(type, ({ target }) => {
    if ((target as Element).closest('html:not([data-live]) [data-live]')) load();
  });
// The end of the document may arrive late: then DOMContentLoaded comes after the failure.
for (const type of ['pointerdown', 'keydown', 'online', 'DOMContentLoaded'])
  addEventListener(type, () => {
    if ('failed' in root) load();
  });

if (hasSessionToRestore()) load();

arrived.then((whole) => {
  if (!whole) {
    root.failed = '';
    return;
  }
  if (document.querySelector('[data-live=now]')) {
    // Starting earlier would delay the first paint. A page in the background is not painted.
    if (document.hidden) load();
    else requestAnimationFrame(() => setTimeout(load));
  } else if (fast) addEventListener('load', () => whenIdle(load));
});
