/** What some keyboards type as Arabic-Indic or Persian digits, in the digits that everything else reads. */
export function latinDigits(typed: string): string {
  return typed.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15));
}
