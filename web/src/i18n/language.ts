import { createContext, use } from 'react';

export const languages = ['en', 'so'] as const;
export type Language = (typeof languages)[number];

export const locales: Record<Language, string> = { en: 'en_US', so: 'so_SO' };

/** The name of each language in itself. */
export const languageNames: Record<Language, string> = { en: 'English', so: 'Soomaali' };

/** Returns the language of a path from its first segment: `/so/learn/` is Somali, `/sound/` is not. */
export function languageOf(pathname: string): Language {
  return /^\/so(\/|$)/.test(pathname) ? 'so' : 'en';
}

/** Returns the path of a page in a language: `/learn/` in English, `/so/learn/` in Somali. */
export function pathIn(language: Language, path: string) {
  const plain = languageOf(path) === 'so' ? path.slice(3) || '/' : path;
  return language === 'so' ? `/so${plain}` : plain;
}

export function otherLanguage(language: Language): Language {
  return language === 'en' ? 'so' : 'en';
}

/** Set at the root of each language's routes. The language of a document never changes. */
export const LanguageContext = createContext<Language>('en');

export function useLanguage() {
  return use(LanguageContext);
}
