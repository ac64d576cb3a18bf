import { csv } from './csv';

/** Offers rows as a file. The byte order mark tells spreadsheets that it is UTF-8. */
export function saveCsv(name: string, rows: readonly (readonly unknown[])[]) {
  const url = URL.createObjectURL(new Blob([`\ufeff${csv(rows)}`], { type: 'text/csv;charset=utf-8' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
