import type { Language } from './language';

/*
 * Chromium has no Somali date names and Node has, so Intl would print one thing at build and another in the
 * browser. The names are written down here for both.
 */
const months: Record<Language, readonly string[]> = {
  en: [
    'January',
    'February',
    'March',
    'April',
    'May',
    'June',
    'July',
    'August',
    'September',
    'October',
    'November',
    'December',
  ],
  so: [
    'Janaayo',
    'Febraayo',
    'Maarso',
    'Abriil',
    'Maayo',
    'Juun',
    'Luulyo',
    'Agosto',
    'Sebtembar',
    'Oktoobar',
    'Noofeembar',
    'Diseembar',
  ],
};

const weekdays: Record<Language, readonly string[]> = {
  en: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
  so: ['Axad', 'Isniin', 'Talaado', 'Arbaco', 'Khamiis', 'Jimco', 'Sabti'],
};

export function monthName(language: Language, date: Date) {
  return months[language][date.getMonth()] ?? '';
}

export function weekdayName(language: Language, date: Date) {
  return weekdays[language][date.getDay()] ?? '';
}

/** '21 November 2026', '21 Noofeembar 2026'. */
export function longDate(language: Language, date: Date) {
  return `${date.getDate()} ${monthName(language, date)} ${date.getFullYear()}`;
}
