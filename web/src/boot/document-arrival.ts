/*
 * Watches whether the whole document arrives. If the connection breaks off, a half page stays, for which Chromium fires
 * no event. After eight seconds without a new element a button at the end of the page says so, and reloads it. The page
 * does not reload itself: the reader may be typing, and without a connection the half page is better than none.
 */
const { incomplete } = (document.currentScript as HTMLScriptElement).dataset;

/** Returns the last element of the document (index.html), also if it arrived after the page had said that a part is missing. */
export const end = () => document.getElementById('site-config');

/** Resolves with true when the whole document has arrived, with false when the page says that a part is missing. */
export const arrived = new Promise<boolean>((resolve) => {
  let elements = 0;
  let quiet = 0;
  let line: HTMLElement | undefined;

  document.addEventListener('DOMContentLoaded', () => end() && resolve(true));
  const watch = setInterval(() => {
    const { length } = document.all;
    if (end()) {
      clearInterval(watch);
      line?.remove();
    } else if (elements !== length) {
      elements = length;
      quiet = 0;
    } else if (++quiet === 2) {
      resolve(false);
      // Chromium paints nothing before the body has begun. This replaces the head.
      document.body ?? document.write('<body>');
      line = Object.assign(document.createElement('p'), {
        role: 'alert',
        // As the link that skips the header: every page has these styles.
        className:
          'bg-primary text-primary-foreground fixed -top-24 left-2 z-50 rounded-lg px-4 py-3 font-semibold focus:top-2',
        style: 'position:sticky;bottom:.5rem',
        innerHTML: `<button>${incomplete}</button>`,
        onclick: () => location.reload(),
      });
      document.body.append(line);
    }
  }, 4e3);
});
