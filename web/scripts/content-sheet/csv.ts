/** Writes rows as CSV (RFC 4180). The mark at its start tells spreadsheets that it is UTF-8. */
export function toCsv(rows: readonly (readonly string[])[]) {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `\uFEFF${rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`;
}

/** Reads CSV as spreadsheets save it: separated by commas, semicolons or tabs. */
export function fromCsv(text: string): string[][] {
  const plain = text.replace(/^\uFEFF/, '');
  const separator = /^[^,;\t\r\n]*([,;\t])/.exec(plain)?.[1] ?? ',';
  const rows: string[][] = [];
  let row: string[] = [];
  const cells = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, 'gy');
  for (let match = cells.exec(plain); match; match = cells.exec(plain)) {
    const [, inQuotes, bare = '', end] = match;
    row.push(inQuotes === undefined ? bare : inQuotes.replaceAll('""', '"'));
    if (end === separator) continue;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
    if (cells.lastIndex === plain.length) break;
  }
  return rows;
}
