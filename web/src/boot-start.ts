import { arrived, end } from './boot-whole';
import { loadOnce } from './lib/load-once';

const script = document.currentScript as HTMLScriptElement;

/** The application's file, and on a page with a form or a list the other files that it needs at once. */
export const { app = '', preload } = script.dataset;

/** Loads the application and hydrates the page when its whole document has arrived. After a failure the next call tries again. */
export const start = loadOnce(async () => {
  await arrived;
  if (!end()) throw 0;
  const { hydrate } = await import(/* @vite-ignore */ app);
  await hydrate();
});

const connection = (navigator as { connection?: { effectiveType?: string; saveData?: boolean } }).connection;

/** Whether the browser reports a fast connection without data saving. */
export const fast = connection?.effectiveType === '4g' && !connection.saveData;

export function whenIdle(run: () => void) {
  window.requestIdleCallback?.(run, { timeout: 3000 }) ?? setTimeout(run, 1000); // Safari has no requestIdleCallback
}
