/**
 * Returns rows as CSV. A text that a spreadsheet would run as a formula, or show as another number
 * or day, gets an apostrophe: visitors type the texts, and a batch may be 0012 or 12E5.
 */
export function csv(rows: readonly (readonly unknown[])[]) {
  return `${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

/** Returns records as rows of CSV below their names: those of `first`, then the others. */
export function table(records: readonly Record<string, unknown>[], first: readonly string[]) {
  const names = [...new Set([...first, ...Object.keys(records[0] ?? {})])];
  return [names, ...records.map((record) => names.map((name) => record[name]))];
}

/** The start of a formula. Spreadsheets trim blanks and invisible marks, and some know wide signs. */
const formula = /^[ \p{Cf}]*[=+\-@\t\r\n＝＋－＠﹢﹣﹦﹫]/u;
/** Numbers, days, times, shares and amounts, also with the name of a month. */
const figure =
  /^(?=.*\d)([\d\s.,:/()%$€£eE-]+|\d*\W?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\W?\d*)$/i;
/** What a spreadsheet keeps: short numbers and days of ISO 8601. */
const kept = /^(0|[1-9]\d{0,14}|\d{4}-\d\d(-\d\d)?)$/;

function cell(value: unknown) {
  let text = value === null || value === undefined ? '' : String(value);
  const changed = formula.test(text) || (figure.test(text) && !kept.test(text));
  if (typeof value !== 'number' && changed) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
