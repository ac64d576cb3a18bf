import { loadOnce } from './load-once';

/**
 * Loads the whole stylesheet. A prerendered page has only the styles of its own HTML, so call this before showing
 * anything else in it: another screen, or a part that is loaded late.
 */
export const fullStyles = loadOnce(
  () =>
    new Promise<void>((resolve, reject) => {
      const href = document.querySelector<HTMLElement>('script[data-css]')?.dataset.css;
      if (!href) return resolve(); // in development the stylesheet comes with the code
      const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
      link.onload = () => resolve();
      link.onerror = () => reject(new TypeError(`Failed to import ${href}`));
      document.head.append(link);
    }),
);

/** Reports whether code or styles could not be loaded. A later call that loads them tries again. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof TypeError && /import/i.test(error.message);
}
