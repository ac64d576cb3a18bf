import { en } from '@/i18n/en';
import { type Language, languages, pathIn } from '@/i18n/language';
import { so } from '@/i18n/so';

/** The texts and the paths of both languages. */
export const inBothLanguages = languages.map((language: Language) => ({
  language,
  words: { en, so }[language],
  to: (path: string) => pathIn(language, path),
}));
