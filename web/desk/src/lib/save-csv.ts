import { csv } from './csv';
import { saveFile } from './save-file';

/** Offers rows as a file. The byte order mark tells spreadsheets that it is UTF-8. */
export const saveCsv = (name: string, rows: readonly (readonly unknown[])[]) =>
  saveFile(name, `\ufeff${csv(rows)}`, 'text/csv;charset=utf-8');
