import type { Finding } from '@desk/backend/system';
import type { Text } from '@desk/i18n/en';

/** A part of a sentence. Values of the server are names and messages in English. */
export interface Part {
  text: string;
  english: boolean;
}

/**
 * Returns what a finding says, in the desk's language. A finding that the desk does not know, or
 * knows with other values, is in the server's English.
 */
export function partsOf(finding: Finding, says: Text['checks']['says']): Part[] {
  const template = Object.hasOwn(says, finding.Code) ? says[finding.Code as keyof typeof says] : undefined;
  const parts = template?.split(/\{(\d)\}/).map((text, i) => {
    return i % 2 ? { text: finding.Args[Number(text)], english: true } : { text, english: false };
  });
  const whole = parts?.filter((part): part is Part => part.text !== undefined);
  if (!whole || whole.length !== parts?.length) return [{ text: finding.Says, english: true }];
  return whole.filter(({ text }) => text !== '');
}

/** Returns a word of the server in the desk's language, or as it is. */
export const wordOf = (word: string, words: Record<string, string>) => words[word] ?? word;
