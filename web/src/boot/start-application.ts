import { loadOnce } from '../lib/load-once';
import { arrived, end } from './document-arrival';

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
