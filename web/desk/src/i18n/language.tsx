import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { monthName } from '@/i18n/dates';
import { en, type Text } from './en';
import { so } from './so';

export type Language = 'en' | 'so';

interface Value {
  language: Language;
  text: Text;
  setLanguage: (language: Language) => void;
}

const Context = createContext<Value | null>(null);

const key = 'desk-language';

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, set] = useState<Language>(() => (localStorage.getItem(key) === 'so' ? 'so' : 'en'));
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const setLanguage = useCallback((next: Language) => {
    localStorage.setItem(key, next);
    set(next);
  }, []);
  const value = useMemo(
    () => ({ language, text: language === 'so' ? so : en, setLanguage }),
    [language, setLanguage],
  );
  return <Context value={value}>{children}</Context>;
}

export function useLanguage(): Value {
  const value = use(Context);
  if (!value) throw new Error('useLanguage needs a LanguageProvider above it');
  return value;
}

export const useText = () => useLanguage().text;

/** Returns a whole number as '20,000'. */
export const digits = (n: number) => n.toLocaleString('en');

/** Returns '3 Nov, 14:05', with the year if it is another one. Chromium has no Somali names of months, so they are ours. */
export function shortTime(language: Language, iso: string) {
  const date = new Date(iso);
  const time = `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
  const year = date.getFullYear() === new Date().getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${date.getDate()} ${monthName(language, date).slice(0, 3)}${year}, ${time}`;
}

/** Returns '3 Nov 2026'. */
export function shortDay(language: Language, iso: string) {
  const date = new Date(iso.length === 10 ? `${iso}T00:00` : iso);
  return `${date.getDate()} ${monthName(language, date).slice(0, 3)} ${date.getFullYear()}`;
}

/** Returns the time since a moment as '5 min', '3 h' or '12 d', which both languages read. */
export function since(iso: string, now = Date.now()) {
  const minutes = Math.max(0, Math.round((now - Date.parse(iso)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h`;
  return `${Math.round(minutes / 1440)} d`;
}
