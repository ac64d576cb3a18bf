/*
 * The rules of this file are also those of functions/submit-report/clean.go.
 * functions/submit-report/testdata/cases.json keeps them equal.
 */

/**
 * Normalises a text of several lines: removes control characters except newline and tab, the bidirectional controls
 * (which can make a name look like another), and white space at both ends. A text without a visible character becomes ''.
 */
export function cleanText(typed: string): string {
  const text = typed
    .replaceAll('\r\n', '\n')
    .replace(/[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '')
    .trim();
  return invisible.test(text) ? '' : text;
}

/** Spaces, format characters such as the zero-width space, and fillers. */
const invisible =
  /^(?:[\p{Cf}\p{Z}\s\u{115F}\u{1160}\u{2800}\u{3164}\u{FFA0}]|\p{Variation_Selector}|\u{34F}|\u{17B4}|\u{17B5})*$/u;

/** cleanText for a field of one line: replaces line ends and other control characters with a space. */
export function cleanLine(typed: string): string {
  return cleanText(typed.replace(/\r\n|[\p{Cc}\u2028\u2029]/gu, ' '));
}

/** Replaces Arabic-Indic and Persian digits, which some keyboards type, with 0 to 9. */
export function latinDigits(typed: string): string {
  return typed.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15));
}
