import type { Language } from './language';

/*
 * Node has Somali names of months and days, Chromium has not, so Intl would give different results when prerendering and in
 * the browser. Both use these names.
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

/** Returns '21 November 2026' or '21 Noofeembar 2026'. */
export function longDate(language: Language, date: Date) {
  return `${date.getDate()} ${monthName(language, date)} ${date.getFullYear()}`;
}
