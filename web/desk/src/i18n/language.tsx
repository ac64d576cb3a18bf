import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { type Language, languages } from '@/i18n/language';
import { en, type Text } from './en';
import { so } from './so';

interface Value {
  language: Language;
  text: Text;
  setLanguage: (language: Language) => void;
}

const Context = createContext<Value | null>(null);

const key = 'desk-language';

/** Returns the language that the person chose, or the first of the browser's that the desk has. */
function firstLanguage(): Language {
  const wanted = [localStorage.getItem(key), ...navigator.languages].map((name) => name?.slice(0, 2));
  return (
    languages.find((each) => each === wanted.find((name) => languages.some((own) => own === name))) ?? 'en'
  );
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, set] = useState<Language>(firstLanguage);
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
