let arrived: Promise<void> | undefined;

/**
 * A prerendered page carries the styles it needs and no others. Before something else is shown in it, another
 * screen or a late part of this one, the whole stylesheet must be there.
 */
export function fullStyles(): Promise<void> {
  arrived ??= new Promise((resolve, reject) => {
    const href = document.querySelector<HTMLElement>('script[data-css]')?.dataset.css;
    if (!href) return resolve(); // in development the stylesheet comes with the code
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
    link.onload = () => resolve();
    link.onerror = () => {
      arrived = undefined;
      reject(new TypeError(`Failed to import ${href}`));
    };
    document.head.append(link);
  });
  return arrived;
}

/** Whether code or styles did not arrive. Until its page is loaded anew, many a browser does not ask for code again. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof TypeError && /import/i.test(error.message);
}
