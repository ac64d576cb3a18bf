/**
 * Returns rows as CSV. A cell that a spreadsheet would take for a formula gets an apostrophe,
 * because visitors type the texts.
 */
export function csv(rows: readonly (readonly unknown[])[]) {
  return `${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

/**
 * Returns records as rows of CSV below a row of their names, which are those of the first record.
 */
export function table(records: readonly Record<string, unknown>[], whenEmpty: readonly string[]) {
  const names = records[0] ? Object.keys(records[0]) : whenEmpty;
  return [names, ...records.map((record) => names.map((name) => record[name]))];
}

/** The start of a formula. Spreadsheets trim blanks and invisible marks, and some know wide signs. */
const formula = /^[ \p{Cf}]*[=+\-@\t\r\n＝＋－＠﹢﹣﹦﹫]/u;

function cell(value: unknown) {
  let text = value === null || value === undefined ? '' : String(value);
  if (typeof value !== 'number' && formula.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
