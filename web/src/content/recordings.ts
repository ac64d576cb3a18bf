import type { Language } from '@/i18n/language';

/** Paths below public/audio, found by vite.config.ts at build time: `en/antibiotics-guide.mp3`. */
declare const RECORDINGS: readonly string[];

/** Returns the address of the recording of a guide, if there is one. */
export function recording(language: Language, slug: string, files = RECORDINGS): string | undefined {
  const found = files.find((file) => file.startsWith(`${language}/${slug}.`));
  return found && `/audio/${found}`;
}
