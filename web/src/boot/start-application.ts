import { arrived, end } from './document-arrival';

/** The application's file. */
export const app = (document.currentScript as HTMLScriptElement).dataset.app as string;

/** Loads the application and hydrates the page when its whole document has arrived. */
export async function start() {
  await arrived;
  if (!end()) throw 0;
  const { hydrate } = await import(/* @vite-ignore */ app);
  await hydrate();
}
