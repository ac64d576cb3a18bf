/*
 * Loads parts of the application such that a failure can be repeated. Chromium remembers a failed import() until the page
 * is left, at least up to version 150, and so it does for each file that a part imports. So the files of a part are first
 * fetched into the browser's cache, where those that have arrived stay. The part is imported when all of them are there.
 */
import { loadOnce } from './load-once';

/** Returns a function that fetches files side by side. A file that has arrived is not fetched again. */
export function fileFetcher() {
  const files: Record<string, () => Promise<void>> = {};
  return (addresses: readonly string[]) =>
    Promise.all(
      addresses.map((address) => {
        files[address] ??= loadOnce(() => fetchFile(address));
        return files[address]();
      }),
    );
}

/** Rejects with the error of a missing part (isMissingPart). */
async function fetchFile(address: string) {
  try {
    const response = await fetch(address);
    if (!response.ok) throw 0;
    await response.arrayBuffer();
  } catch {
    throw new TypeError(`Failed to import ${address}`);
  }
}

/** Returns the function that the build calls in place of import() (scripts/load-parts.ts). */
export function partLoader() {
  const fetchFiles = fileFetcher();
  return async (part: string, ...itsImports: string[]) => {
    await fetchFiles([part, ...itsImports]);
    return import(/* @vite-ignore */ part);
  };
}
