import type { Language } from '@/i18n/language';

/** Three letters of a month. In Somali those of Maarso and Maayo would be the same. */
const months: Record<Language, readonly string[]> = {
  en: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  so: ['Jan', 'Feb', 'Mar', 'Abr', 'May', 'Jun', 'Lul', 'Ago', 'Seb', 'Okt', 'Nof', 'Dis'],
};

/** Returns a whole number as '20,000'. */
export const digits = (n: number) => n.toLocaleString('en');

/** Returns '3 Nov, 14:05', with the year if it is not the current one. */
export function shortTime(language: Language, iso: string) {
  const date = new Date(iso);
  const time = `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
  const year = date.getFullYear() === new Date().getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${dayAndMonth(language, date)}${year}, ${time}`;
}

/** Returns '3 Nov 2026'. A date without a time is a day of this place. */
export function shortDay(language: Language, iso: string) {
  const date = new Date(iso.length === 10 ? `${iso}T00:00` : iso);
  return `${dayAndMonth(language, date)} ${date.getFullYear()}`;
}

/** Returns '18 Sep – 25 Nov 2026', or one day if both are the same. */
export function dayRange(language: Language, first: string, last: string) {
  const [from, to] = [shortDay(language, first), shortDay(language, last)];
  if (from === to) return to;
  return `${from.slice(-4) === to.slice(-4) ? from.slice(0, -5) : from} – ${to}`;
}

function dayAndMonth(language: Language, date: Date) {
  return `${date.getDate()} ${months[language][date.getMonth()]}`;
}

/** Returns the time since a moment as '5 min', '3 h' or '12 d', which both languages read. */
export function since(iso: string, now = Date.now()) {
  const minutes = Math.max(0, Math.round((now - Date.parse(iso)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h`;
  return `${Math.round(minutes / 1440)} d`;
}
