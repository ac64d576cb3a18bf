import { arrived, end } from './document-arrival';

const script = document.currentScript as HTMLScriptElement;

/** The application's file. */
export const { app = '' } = script.dataset;

/** Loads the application and hydrates the page when its whole document has arrived. */
export async function start() {
  await arrived;
  if (!end()) throw 0;
  const { hydrate } = await import(/* @vite-ignore */ app);
  await hydrate();
}
