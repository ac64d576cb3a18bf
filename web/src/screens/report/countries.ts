import type { Country } from '@/content/countries';

/** The country that is chosen first. All others are loaded late. */
export const somalia: Country = { iso: 'so', code: '252', mask: '.. ... ....' };

/**
 * Formats a number by its country's mask. It keeps digits beyond the mask, because a longer number may still be
 * correct. It drops a leading zero in countries where that is dialled only at home.
 */
export function formatPhone(typed: string, { mask, keepsZero }: Pick<Country, 'mask' | 'keepsZero'>): string {
  const digits = typed.replace(keepsZero ? /\D/g : /^[\D0]+|\D/g, '');
  let used = 0;
  let formatted = '';
  for (const sign of mask) {
    if (used >= digits.length) break;
    formatted += sign === '.' ? digits[used++] : sign;
  }
  return formatted + digits.slice(used);
}

/** Reports whether a number begins with a calling code ('+' or '00') or may be about to ('0' alone). */
export function isInternational(typed: string): boolean {
  return /^\s*(\+|00|0$)/.test(typed);
}

/**
 * Splits a number with a calling code into country and rest: '+252 61…' is Somalia and '61…'. The longest calling code
 * counts: '+1 246…' is Barbados.
 */
export function splitInternational(
  typed: string,
  countries: readonly Country[],
): { country: Country; rest: string } | undefined {
  const digits = /^\s*(?:\+|00)([\d\s().-]+)$/.exec(typed)?.[1]?.replace(/\D/g, '');
  if (!digits) return undefined;
  const [country] = countries
    .filter(({ code }) => digits.startsWith(code))
    .sort((a, b) => b.code.length - a.code.length);
  return country && { country, rest: digits.slice(country.code.length) };
}
