import type { Dictionary } from './en';
import { type Language, useLanguage } from './language';

export type Part = keyof Dictionary;

/** One small file per part and language, so that a page loads the words it shows and no others. */
const files = import.meta.glob<Dictionary[Part]>(['./en/*.ts', './so/*.ts'], { import: 'text' });

const loaded: Record<Language, Partial<Dictionary>> = { en: {}, so: {} };

export async function loadText(language: Language, parts: readonly Part[]) {
  await Promise.all(
    parts.map(async (part) => {
      const load = files[`./${language}/${part}.ts`];
      if (!load) throw new Error(`No text for part "${part}" in "${language}"`);
      Object.assign(loaded[language], { [part]: await load() });
    }),
  );
}

/** The words of one part in the page's language. The part must be listed in routes.tsx. */
export function useText<P extends Part>(part: P): Dictionary[P] {
  const text = loaded[useLanguage()][part];
  if (!text) throw new Error(`Text part "${part}" is not loaded: list it with the screen in routes.tsx`);
  return text as Dictionary[P];
}
