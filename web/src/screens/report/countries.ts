import type { Dictionary } from '@/i18n/en';

/** A country of the phone field: those where Somalis live. The names are in the dictionary. */
export interface Country {
  /** ISO 3166 code, also the file name of the flag. */
  iso: keyof Dictionary['report']['countries'];
  /** Calling code without '+'. */
  code: string;
  /** The format of a number: each dot is one digit. */
  mask: string;
  /** Whether the leading zero of a number is also dialled from abroad. */
  keepsZero?: true;
}

export const countries: readonly Country[] = [
  { iso: 'so', code: '252', mask: '.. ... ....' },
  { iso: 'ca', code: '1', mask: '(...) ...-....' },
  { iso: 'dj', code: '253', mask: '.. .. .. ..' },
  { iso: 'et', code: '251', mask: '.. ... ....' },
  { iso: 'ke', code: '254', mask: '... ......' },
  { iso: 'ug', code: '256', mask: '... ......' },
  { iso: 'tz', code: '255', mask: '... ... ...' },
  { iso: 'za', code: '27', mask: '.. ... ....' },
  { iso: 'eg', code: '20', mask: '... ... ....' },
  { iso: 'ye', code: '967', mask: '... ... ...' },
  { iso: 'sa', code: '966', mask: '.. ... ....' },
  { iso: 'ae', code: '971', mask: '.. ... ....' },
  { iso: 'qa', code: '974', mask: '.... ....' },
  { iso: 'tr', code: '90', mask: '... ... .. ..' },
  { iso: 'in', code: '91', mask: '..... .....' },
  { iso: 'gb', code: '44', mask: '.... ......' },
  { iso: 'se', code: '46', mask: '.. ... .. ..' },
  { iso: 'no', code: '47', mask: '... .. ...' },
  { iso: 'dk', code: '45', mask: '.. .. .. ..' },
  { iso: 'fi', code: '358', mask: '.. ... ....' },
  { iso: 'nl', code: '31', mask: '. ........' },
  { iso: 'de', code: '49', mask: '.... ........' },
  { iso: 'it', code: '39', mask: '... .......', keepsZero: true },
  { iso: 'au', code: '61', mask: '... ... ...' },
];

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

/** Splits a number with a calling code into country and rest: '+252 61…' is Somalia and '61…'. */
export function splitInternational(typed: string): { country: Country; rest: string } | undefined {
  const digits = /^\s*(?:\+|00)([\d\s().-]+)$/.exec(typed)?.[1]?.replace(/\D/g, '');
  const country = digits && countries.find(({ code }) => digits.startsWith(code));
  return country ? { country, rest: digits.slice(country.code.length) } : undefined;
}
