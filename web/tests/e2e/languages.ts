import { en } from '@/i18n/en';
import { type Language, languages, pathIn } from '@/i18n/language';
import { so } from '@/i18n/so';
import { everyCase } from './sample';

/** The texts and the paths of both languages. */
export const inBothLanguages = languages.map((language: Language) => ({
  language,
  words: { en, so }[language],
  to: (path: string) => pathIn(language, path),
}));

/** The texts and the paths of one language, or of both with LONG=1: for behaviour that no text changes. */
export const spokenIn = (one: Language) =>
  inBothLanguages.filter(({ language }) => everyCase || language === one);
