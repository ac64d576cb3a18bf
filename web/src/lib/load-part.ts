/*
 * Loads parts of the application such that a failure can be repeated. Chromium remembers a failed import() until the page
 * is left, at least up to version 150, and so it does for each file that a part imports. So the files of a part are first
 * fetched into the browser's cache, where those that have arrived stay. The part is imported when all of them are there.
 */
import { loadOnce } from './load-once';

/** Fetches a file into the browser's cache. */
export async function fetchFile(address: string) {
  const response = await fetch(address);
  if (!response.ok) throw 0;
  await response.arrayBuffer();
}

/** Returns the function that the build calls in place of import() (scripts/load-parts.ts). */
export function partLoader() {
  const parts: Record<string, () => Promise<unknown>> = {};
  return (part: string, ...itsImports: string[]) => {
    parts[part] ??= loadOnce(async () => {
      await Promise.all([part, ...itsImports].map(fetchFile)).catch(() => {
        throw new TypeError(`Failed to import ${part}`); // as isMissingPart expects
      });
      return import(/* @vite-ignore */ part);
    });
    return parts[part]();
  };
}
