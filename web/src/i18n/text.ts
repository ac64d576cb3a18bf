import { type LateModule, lateModule } from '@/lib/late-module';
import type { Dictionary } from './en';
import { type Language, useLanguage } from './language';

export type Part = keyof Dictionary;

/** One small file per part and language, so that a page loads only the texts that it shows. */
const files = import.meta.glob<Dictionary[Part]>(['./en/*.ts', './so/*.ts'], { import: 'text' });

const texts: Readonly<Record<string, LateModule<Dictionary[Part]>>> = Object.fromEntries(
  Object.entries(files).map(([file, load]) => [file, lateModule(load)]),
);

function textOf(language: Language, part: Part) {
  const text = texts[`./${language}/${part}.ts`];
  if (!text) throw new Error(`No text for part "${part}" in "${language}"`);
  return text;
}

export async function loadText(language: Language, parts: readonly Part[]) {
  await Promise.all(parts.map((part) => textOf(language, part).load()));
}

/** Returns the texts of one part in the page's language. The part must be listed in routes.tsx, or be loaded. */
export function useText<P extends Part>(part: P): Dictionary[P] {
  return textNow(useLanguage(), part);
}

export function textNow<P extends Part>(language: Language, part: P): Dictionary[P] {
  const text = textOf(language, part).current();
  if (!text) throw new Error(`Text part "${part}" is not loaded: list it with the screen in routes.tsx`);
  return text as Dictionary[P];
}
