import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { so } from '@/i18n/so';
import { fromCsv, toCsv } from './csv';
import { exportSheet, importSheet } from './sheet';
import { literals, readPairs } from './texts';

const sources = ['web/src/i18n', 'web/src/content/guides', 'web/desk/src/i18n', 'functions'];
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sheet-'));
  for (const folder of sources) cpSync(`../${folder}`, join(root, folder), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

/** Exports the texts, writes corrections into the sheet and imports it. */
function correct(corrections: Record<string, string>) {
  exportSheet(root, root);
  const rows = fromCsv(readFileSync(join(root, 'content-sheet.csv'), 'utf8'));
  for (const row of rows) row[4] = corrections[row[0] ?? ''] ?? row[4] ?? '';
  return importSheet(root, toCsv(rows));
}

/** Returns a text with the value of n, as a template of the source has it. */
const filledIn = (text: string) => text.replace('{n}', '${' + 'n}');

const somaliAt = (place: string) => readPairs(root).find((pair) => pair.place === place)?.somali?.text;

test('the sheet has every text of the site in both languages', () => {
  const pairs = readPairs(root).filter(({ place }) => place.startsWith('web/src/'));
  const listed = new Set(pairs.map(({ somali }) => somali?.text));
  const walk = (text: unknown): string[] =>
    typeof text === 'string' ? [text] : Object.values(text as object).flatMap(walk);
  expect(walk(so).filter((text) => !listed.has(text))).toEqual([]);
  expect(pairs.filter(({ english, somali }) => !english || !somali)).toEqual([]);
});

test('corrections of a text, a function and a page of a function are written into their sources', () => {
  const changed = {
    'web/src/i18n/home.ts heading': "Cinwaan 'cusub' ah",
    'web/desk/src/i18n/resources.ts downloads#2': filledIn('{n} jeer la soo dejiyay'),
    'functions/submit-report/messages.go title': 'Ka warbixi "alaab"',
  };
  expect(correct(changed)).toBe(3);
  for (const [place, text] of Object.entries(changed)) expect(somaliAt(place), place).toBe(text);
});

test.each([
  ['fills in other words', { 'web/src/i18n/resources.ts downloads': 'Soo dejin' }, /must have \{count\}/],
  ['has an unknown place', { 'web/src/i18n/home.ts gone': 'Erey' }, /no such text/],
])('a correction that %s changes nothing', (_, wrong, problem) => {
  exportSheet(root, root);
  const rows = fromCsv(readFileSync(join(root, 'content-sheet.csv'), 'utf8'));
  const added = Object.entries({ 'web/src/i18n/home.ts heading': 'Cusub', ...wrong }).map(([place, text]) => {
    const [, english = '', somali = ''] = rows.find(([name]) => name === place) ?? [];
    return [place, english, somali, '', text, ''];
  });
  expect(() => importSheet(root, toCsv([rows[0] ?? [], ...added]))).toThrow(problem);
  expect(somaliAt('web/src/i18n/home.ts heading')).not.toBe('Cusub');
});

test('a text that changed after the export is not overwritten', () => {
  const sheet = toCsv([
    ['place', 'English', 'Somali', 'corrected English', 'corrected Somali', 'note'],
    ['web/src/i18n/home.ts heading', '', 'Qoraal hore', '', 'Qoraal cusub', ''],
  ]);
  expect(() => importSheet(root, sheet)).toThrow(/changed since the export/);
});

test('CSV keeps quotes, commas and lines, also with semicolons', () => {
  const rows = [
    ['a', 'b, "c"', 'd\ne'],
    ['', '', 'x'],
  ];
  expect(fromCsv(toCsv(rows))).toEqual(rows);
  expect(fromCsv('a;"b;c"\r\nd;e')).toEqual([
    ['a', 'b;c'],
    ['d', 'e'],
  ]);
});

test('texts in functions have a number', () => {
  const code = filledIn(
    "const count = (n: number) => (n === 1 ? 'one' : `{n} many`); export const text = { a: ['x'] };",
  );
  expect(literals(code).map(({ key, text }) => [key, text])).toEqual([
    ['count#1', 'one'],
    ['count#2', filledIn('{n} many')],
    ['a.0', 'x'],
  ]);
});
