import type { Dictionary } from '@/i18n/en';

/** Countries of the phone field: where Somalis live. Their names are in the dictionary. */
export interface Country {
  /** ISO 3166 code, which is also the name of the flag's file. */
  iso: keyof Dictionary['report']['countries'];
  /** Calling code without the plus. */
  code: string;
  /** A dot is one digit. */
  mask: string;
  /** Whether a number's leading zero is dialled from abroad, too. */
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
 * Lays the digits of a number out by its country's mask. Digits beyond the mask are kept: a number that we
 * think too long may still be right. A leading zero is dropped where numbers are dialled with it at home only.
 */
export function formatPhone(typed: string, { mask, keepsZero }: Pick<Country, 'mask' | 'keepsZero'>): string {
  const digits = typed.replace(keepsZero ? /\D/g : /^[\D0]+|\D/g, '');
  let used = 0;
  let laid = '';
  for (const sign of mask) {
    if (used >= digits.length) break;
    laid += sign === '.' ? digits[used++] : sign;
  }
  return laid + digits.slice(used);
}

/** A number that carries its own calling code, or begins to: '+', '00', or the '0' that may become one. */
export function isInternational(typed: string): boolean {
  return /^\s*(\+|00|0$)/.test(typed);
}

/** Splits a number pasted with its calling code: '+252 61…' is Somalia and the rest. */
export function splitInternational(typed: string): { country: Country; rest: string } | undefined {
  const digits = /^\s*(?:\+|00)([\d\s().-]+)$/.exec(typed)?.[1]?.replace(/\D/g, '');
  const country = digits && countries.find(({ code }) => digits.startsWith(code));
  return country ? { country, rest: digits.slice(country.code.length) } : undefined;
}
