/** Returns rows as CSV. A cell that a spreadsheet would take for a formula gets an apostrophe, because visitors type the texts. */
export function csv(rows: readonly (readonly unknown[])[]) {
  return `${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

function cell(value: unknown) {
  let text = value === null || value === undefined ? '' : String(value);
  if (typeof value !== 'number' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Offers a text as a file. The byte order mark tells spreadsheets that it is UTF-8. */
export function download(name: string, text: string) {
  const url = URL.createObjectURL(new Blob([`\ufeff${text}`], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
