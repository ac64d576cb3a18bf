/**
 * Milliseconds until the address of a saved file ends. A browser may read it long after the click: when
 * the person has chosen a folder, or has allowed a second download.
 */
const readableFor = 60_000;

/** Offers a text as a file. */
export function saveFile(name: string, text: string, type: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), readableFor);
}
