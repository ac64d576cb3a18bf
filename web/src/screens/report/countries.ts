/** Countries of the phone field: where Somalis live. A dot of the mask is one digit. */
export interface Country {
  /** ISO 3166 code, which is also the name of the flag's file. */
  iso: string;
  /** Calling code without the plus. */
  code: string;
  mask: string;
  en: string;
  so: string;
}

export const countries: readonly Country[] = [
  { iso: 'so', code: '252', mask: '.. ... ....', en: 'Somalia', so: 'Soomaaliya' },
  { iso: 'ca', code: '1', mask: '(...) ...-....', en: 'Canada, United States', so: 'Kanada, Maraykanka' },
  { iso: 'dj', code: '253', mask: '.. .. .. ..', en: 'Djibouti', so: 'Jabuuti' },
  { iso: 'et', code: '251', mask: '.. ... ....', en: 'Ethiopia', so: 'Itoobiya' },
  { iso: 'ke', code: '254', mask: '... ......', en: 'Kenya', so: 'Kenya' },
  { iso: 'ug', code: '256', mask: '... ......', en: 'Uganda', so: 'Uganda' },
  { iso: 'tz', code: '255', mask: '... ... ...', en: 'Tanzania', so: 'Tansaaniya' },
  { iso: 'za', code: '27', mask: '.. ... ....', en: 'South Africa', so: 'Koonfur Afrika' },
  { iso: 'eg', code: '20', mask: '... ... ....', en: 'Egypt', so: 'Masar' },
  { iso: 'ye', code: '967', mask: '... ... ...', en: 'Yemen', so: 'Yaman' },
  { iso: 'sa', code: '966', mask: '.. ... ....', en: 'Saudi Arabia', so: 'Sacuudi Carabiya' },
  {
    iso: 'ae',
    code: '971',
    mask: '.. ... ....',
    en: 'United Arab Emirates',
    so: 'Midawga Imaaraatka Carabta',
  },
  { iso: 'qa', code: '974', mask: '.... ....', en: 'Qatar', so: 'Qadar' },
  { iso: 'tr', code: '90', mask: '... ... .. ..', en: 'Türkiye', so: 'Turki' },
  { iso: 'in', code: '91', mask: '..... .....', en: 'India', so: 'Hindiya' },
  { iso: 'gb', code: '44', mask: '.... ......', en: 'United Kingdom', so: 'Boqortooyada Midowday' },
  { iso: 'se', code: '46', mask: '.. ... .. ..', en: 'Sweden', so: 'Iswidhan' },
  { iso: 'no', code: '47', mask: '... .. ...', en: 'Norway', so: 'Noorweey' },
  { iso: 'dk', code: '45', mask: '.. .. .. ..', en: 'Denmark', so: 'Denmark' },
  { iso: 'fi', code: '358', mask: '.. ... ....', en: 'Finland', so: 'Finland' },
  { iso: 'nl', code: '31', mask: '. ........', en: 'Netherlands', so: 'Nederlaands' },
  { iso: 'de', code: '49', mask: '.... ........', en: 'Germany', so: 'Jarmal' },
  { iso: 'it', code: '39', mask: '... .......', en: 'Italy', so: 'Talyaani' },
  { iso: 'au', code: '61', mask: '... ... ...', en: 'Australia', so: 'Awstaraaliya' },
];

/**
 * Lays the digits of a number out by its country's mask. Digits beyond the mask are kept: a number that we
 * think too long may still be right. A leading zero, as numbers are dialled at home, is dropped.
 */
export function formatPhone(typed: string, mask: string): string {
  const digits = typed.replace(/\D/g, '').replace(/^0+/, '');
  let used = 0;
  let laid = '';
  for (const sign of mask) {
    if (used >= digits.length) break;
    laid += sign === '.' ? digits[used++] : sign;
  }
  return laid + digits.slice(used);
}

/** Splits a number pasted with its calling code: '+252 61…' is Somalia and the rest. */
export function splitInternational(typed: string): { country: Country; rest: string } | undefined {
  const digits = /^\s*(?:\+|00)([\d\s().-]+)$/.exec(typed)?.[1]?.replace(/\D/g, '');
  const country = digits && countries.find(({ code }) => digits.startsWith(code));
  return country ? { country, rest: digits.slice(country.code.length) } : undefined;
}
