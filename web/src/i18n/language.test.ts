import { expect, test } from 'vitest';
import { en } from './en';
import { languageOf, pathIn } from './language';
import { so } from './so';

test.each([
  ['/', 'en'],
  ['/so', 'so'],
  ['/so/', 'so'],
  ['/so/learn/', 'so'],
  ['/sound/', 'en'],
  ['/learn/so/', 'en'],
] as const)('%s is %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test.each([
  ['so', '/', '/so/'],
  ['so', '/learn/', '/so/learn/'],
  ['so', '/so/learn/', '/so/learn/'],
  ['en', '/so/', '/'],
  ['en', '/so/report/', '/report/'],
  ['en', '/report/', '/report/'],
] as const)('in %s, %s is %s', (language, path, expected) => {
  expect(pathIn(language, path)).toBe(expected);
});

test('Somali texts are translated and have the same placeholders', () => {
  const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  const walk = (english: unknown, somali: unknown, path: string) => {
    if (typeof english === 'string') {
      expect(somali, path).toBeTruthy();
      expect(placeholders(String(somali)), path).toEqual(placeholders(english));
      // A sentence that is equal in both languages is not translated.
      if (english.split(' ').length > 3) expect(somali, path).not.toBe(english);
    } else if (english && typeof english === 'object') {
      expect(Object.keys(somali as object), path).toEqual(Object.keys(english));
      for (const [key, value] of Object.entries(english)) {
        walk(value, (somali as Record<string, unknown>)[key], `${path}.${key}`);
      }
    }
  };
  walk(en, so, 'text');
});
