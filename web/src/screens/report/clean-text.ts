/*
 * The rules of this file are also those of functions/submit-report/clean.go.
 * functions/submit-report/testdata/cases.json keeps them equal.
 */

/**
 * Normalises a text of several lines: removes control characters except newline and tab, the bidirectional controls
 * (which can make a name look like another), and white space at both ends.
 */
export function cleanText(typed: string): string {
  return typed
    .replaceAll('\r\n', '\n')
    .replace(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '')
    .trim();
}

/** cleanText for a field of one line: replaces line ends and other control characters with a space. */
export function cleanLine(typed: string): string {
  return cleanText(typed.replace(/\r\n|[\p{Cc}\u2028\u2029]/gu, ' '));
}

/** Replaces Arabic-Indic and Persian digits, which some keyboards type, with 0 to 9. */
export function latinDigits(typed: string): string {
  return typed.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15));
}
