import first from '@functions/submit-report/countries.json' with { type: 'json' };
import type { Language } from '@/i18n/language';

/** A country of the phone field. */
export interface Country {
  /** ISO 3166 code in lower case, also the file name of the flag. */
  iso: string;
  /** Calling code without '+'. */
  code: string;
  /** The format of a number: each dot is one digit. */
  mask: string;
  /** Whether the leading zero of a number is also dialled from abroad. */
  keepsZero?: boolean;
}

/** Names of countries in both languages, by ISO code in upper case. Node knows them, browsers lack the Somali ones. */
declare const COUNTRY_NAMES: Record<Language, Record<string, string>>;

/** ISO code, calling code and, where numbers have one usual format, the mask. */
const others =
  'af 93|al 355 .. ... ....|dz 213 ... .. .. ..|as 1684 ... ....|ad 376 ... ...|ao 244|ai 1264 ... ....' +
  '|ag 1268 ... ....|ar 54|am 374 .. ......|aw 297 ... ....|at 43|az 994 .. ... .. ..|bs 1242 ... ....' +
  '|bh 973 .... ....|bd 880 .... ......|bb 1246 ... ....|by 375 .. ... .. ..|be 32 ... .. .. ..' +
  '|bz 501 ... ....|bj 229 .. .. .. .. ..|bm 1441 ... ....|bt 975|bo 591 . ... ....|ba 387 .. ... ...' +
  '|bw 267 .. ... ...|br 55 .. ..... ....|io 246 ... ....|vg 1284 ... ....|bn 673 ... ....' +
  '|bg 359 .. ... ....|bf 226 .. .. .. ..|bi 257 .. .. .. ..|kh 855 .. ... ...|cm 237 . .. .. .. ..' +
  '|cv 238 ... .. ..|ky 1345 ... ....|cf 236 .. .. .. ..|td 235 .. .. .. ..|cl 56 . .... ....' +
  '|cn 86 ... .... ....|co 57 ... ... ....|km 269 ... .. ..|cg 242 .. ... ....|cd 243 ... ... ...' +
  '|ck 682 .. ...|cr 506 .... ....|ci 225 .. .. .. .. ..|hr 385 .. ... ....|cu 53 . ... ....' +
  '|cw 599 . ... ....|cy 357 .. ......|cz 420 ... ... ...|dm 1767 ... ....|do 1809 ... ....' +
  '|ec 593 .. ... ....|sv 503 .... ....|gq 240 ... ... ...|er 291 . ... ...|ee 372 .... ....' +
  '|sz 268 .... ....|fk 500 .....|fo 298 ......|fj 679 ... ....|fr 33 . .. .. .. ..|gf 594 ... .. .. ..' +
  '|pf 689 .. .. .. ..|ga 241 .. .. .. ..|gm 220 ... ....|ge 995 ... ... ...|gh 233 .. ... ....' +
  '|gi 350 ... .....|gr 30 ... ... ....|gl 299 .. .. ..|gd 1473 ... ....|gp 590 ... .. .. ..' +
  '|gu 1671 ... ....|gt 502 .... ....|gn 224 ... .. .. ..|gw 245 ... ... ...|gy 592 ... ....' +
  '|ht 509 .... ....|hn 504 .... ....|hk 852 .... ....|hu 36 .. ... ....|is 354 ... ....' +
  '|id 62 ... .... ....|ir 98 ... ... ....|iq 964 ... ... ....|ie 353 .. ... ....|il 972 .. ... ....' +
  '|jm 1876 ... ....|jp 81 .. .... ....|jo 962 . .... ....|kz 7 ... ... .. ..|ki 686 .... ....' +
  '|kw 965 .... ....|kg 996 ... ... ...|la 856 .. .. ... ...|lv 371 .. ... ...|lb 961 .. ... ...' +
  '|ls 266 .... ....|lr 231 .. ... ....|ly 218 .. ... ....|li 423 ... ....|lt 370 ... .....' +
  '|lu 352 ... ... ...|mo 853 .... ....|mg 261 .. .. ... ..|mw 265 ... .. .. ..|my 60 .. .... ....' +
  '|mv 960 ... ....|ml 223 .. .. .. ..|mt 356 .... ....|mh 692 ... ....|mq 596 ... .. .. ..' +
  '|mr 222 .. .. .. ..|mu 230 .... ....|mx 52 ... ... ....|fm 691 ... ....|md 373 .. ... ...' +
  '|mc 377 .. .. .. ..|mn 976 .. .. ....|me 382 .. ... ...|ms 1664 ... ....|ma 212 ... ......' +
  '|mz 258 .. ... ....|mm 95 . ... ....|na 264 .. ... ....|nr 674 ... ....|np 977 ... .......' +
  '|nc 687 .. .. ..|nz 64 .. ... ....|ni 505 .... ....|ne 227 .. .. .. ..|ng 234 ... ... ....' +
  '|nu 683 ....|nf 672 ......|kp 850|mk 389 .. ... ...|mp 1670 ... ....|om 968 .... ....' +
  '|pk 92 ... .......|pw 680 ... ....|ps 970 .. ... ....|pa 507 .... ....|pg 675 .... ....' +
  '|py 595 ... ......|pe 51 ... ... ...|ph 63 ... ... ....|pl 48 ... ... ...|pt 351 ... ... ...' +
  '|pr 1787 ... ....|re 262 ... .. .. ..|ro 40 ... ... ...|ru 7 ... ... .. ..|rw 250 ... ... ...' +
  '|ws 685 .. .....|sm 378|st 239 ... ....|sn 221 .. ... .. ..|rs 381 .. ... ....|sc 248 . ... ...' +
  '|sl 232 .. ......|sg 65 .... ....|sx 1721 ... ....|sk 421 ... ... ...|si 386 .. ... ...' +
  '|sb 677 .. .....|kr 82 .. .... ....|ss 211 .. ... ....|es 34 ... .. .. ..|lk 94 .. ... ....' +
  '|sh 290 .....|kn 1869 ... ....|lc 1758 ... ....|pm 508 ......|vc 1784 ... ....|sd 249 .. ... ....' +
  '|sr 597 ... ....|ch 41 .. ... .. ..|sy 963 ... ... ...|tw 886 ... ... ...|tj 992 .. ... ....' +
  '|th 66 .. ... ....|tl 670 .... ....|tg 228 .. .. .. ..|tk 690 ....|to 676 ... ....|tt 1868 ... ....' +
  '|tn 216 .. ... ...|tm 993 .. ......|tc 1649 ... ....|tv 688 .....|vi 1340 ... ....' +
  '|ua 380 .. ... .. ..|uy 598 .. ... ...|uz 998 .. ... .. ..|vu 678 .. .....|va 379|ve 58 ... ... ....' +
  '|vn 84 .. ... .. ..|wf 681 .. .. ..|zm 260 .. ... ....|zw 263 .. ... ....|xk 383 .. ... ...';

/** Countries where a number may begin with a zero that is part of it. */
const zeros = ['it', 'sm', 'va', 'ci', 'cg', 'bj'];

/** All countries: first those where most Somalis live, Somalia first, then all others. */
export const countries: readonly Country[] = /* @__PURE__ */ readCountries();

function readCountries(): Country[] {
  const rows = others.split('|').map((row) => {
    const [, iso = '', code = '', mask = '... ... ... ...'] = /^(\w+) (\d+)(?: (.+))?$/.exec(row) ?? [];
    return { iso, code, mask };
  });
  return [...first.map(({ iso, code, mask }) => ({ iso, code, mask })), ...rows].map((country) =>
    zeros.includes(country.iso) ? { ...country, keepsZero: true } : country,
  );
}

/** Reports whether the site has the flag of a country. */
export function hasFlag({ iso }: Country) {
  return first.some((each) => each.iso === iso);
}

/** Returns the name as HTML. */
export function countryName(language: Language, { iso }: Country): string {
  const known = first.find((each) => each.iso === iso);
  const name = known?.[language] ?? COUNTRY_NAMES[language][iso.toUpperCase()] ?? iso;
  return name.replace('&', '&amp;');
}

/** Returns the options of the select with all countries. */
export function countryOptions(language: Language): string {
  const rest = countries
    .slice(first.length)
    .sort((a, b) => countryName(language, a).localeCompare(countryName(language, b), 'en'));
  return [...countries.slice(0, first.length), ...rest]
    .map(
      (country) =>
        `<option value="${country.code}">+${country.code} ${countryName(language, country)}</option>`,
    )
    .join('');
}
