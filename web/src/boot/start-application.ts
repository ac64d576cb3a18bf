import { loadOnce } from '../lib/load-once';
import { arrived, end } from './document-arrival';

/** The application's file. On a page with a form or a list also the files that it needs to start, and others that it loads then. */
export const { app = '', needs, wants } = (document.currentScript as HTMLScriptElement).dataset;

/** Loads the application and hydrates the page when its whole document has arrived. After a failure the next call tries again. */
export const start = loadOnce(async () => {
  await arrived;
  if (!end()) throw 0;
  const { hydrate } = await import(/* @vite-ignore */ app);
  await hydrate();
});
