import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import type { Language } from '@/i18n/language';
import { en, type Text } from './en';
import { so } from './so';

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
