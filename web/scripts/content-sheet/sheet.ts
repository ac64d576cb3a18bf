import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromCsv, toCsv } from './csv';
import { type Pair, quoted, readPairs } from './texts';

/** The columns. A reviewer writes into the last three; the import reads the two with corrections. */
const columns = ['place', 'English', 'Somali', 'corrected English', 'corrected Somali', 'note'];

/** Writes all texts as content-sheet.csv, to be corrected and imported, and as content-sheet.html, to be read or printed. */
export function exportSheet(root: string, folder: string) {
  const pairs = readPairs(root);
  const rows = pairs.map(({ place, english, somali }) => [
    place,
    english?.text ?? '',
    somali?.text ?? '',
    '',
    '',
    '',
  ]);
  writeFileSync(join(folder, 'content-sheet.csv'), toCsv([columns, ...rows]));
  writeFileSync(join(folder, 'content-sheet.html'), page(pairs));
  return pairs.length;
}

function page(pairs: readonly Pair[]) {
  const html = (text = '') => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const files = new Set(pairs.map(({ place }) => fileOf(place)));
  const tables = [...files].map((file) => {
    const own = pairs.filter(({ place }) => fileOf(place) === file);
    const rows = own.map(({ place, english, somali }) => {
      const key = place.slice(file.length + 1);
      return `<tr><th scope="row">${key}<td lang="en">${html(english?.text)}<td lang="so">${html(somali?.text)}<td>\n`;
    });
    return `<h2>${file}</h2>\n<table><tr><th>place<th>English<th>Soomaali<th>correction\n${rows.join('')}</table>\n`;
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>All texts in English and Somali</title>
<style>
body { font: 0.9rem/1.4 system-ui, sans-serif; margin: 1rem }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th, td { border: 1px solid #888; padding: 0.3rem; text-align: start; vertical-align: top; overflow-wrap: anywhere }
th { width: 12% } td { width: 33%; white-space: pre-line } td:last-child { width: 22% }
tr { break-inside: avoid } h2 { break-after: avoid; font-size: 1rem }
</style>
<h1>All texts in English and Somali</h1>
<p>${pairs.length} texts. Words in {braces} or \${braces} are filled in later and must stay.
${tables.join('')}`;
}

function fileOf(place: string) {
  return place.slice(0, place.indexOf(' '));
}

interface Change {
  file: string;
  start: number;
  end: number;
  literal: string;
}

/**
 * Writes the corrections of a sheet into the sources and returns their number. If a row cannot be taken it changes
 * nothing and throws an error with all such rows.
 */
export function importSheet(root: string, csv: string) {
  const [head, ...rows] = fromCsv(csv);
  const [place, ...others] = columns.map((name) => head?.indexOf(name) ?? -1) as [number, ...number[]];
  if ([place, ...others.slice(0, 4)].some((at) => at < 0))
    throw new Error(`the first line must name the columns ${columns.join(', ')}`);
  const pairs = new Map(readPairs(root).map((pair) => [pair.place, pair]));
  const problems: string[] = [];
  const changes: Change[] = [];
  for (const row of rows) {
    for (const [language, at] of [
      ['english', 0],
      ['somali', 1],
    ] as const) {
      const before = row[others[at] as number] ?? '';
      const after = row[others[at + 2] as number]?.trim() ?? '';
      if (after === '' || after === before) continue;
      const now = pairs.get(row[place] ?? '')?.[language];
      const problem = problemOf(now?.text, before, after);
      if (problem) problems.push(`${row[place]} (${language}): ${problem}`);
      else if (now) changes.push({ ...now, literal: quoted(now, after) });
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  write(root, changes);
  return changes.length;
}

/** Returns why a correction cannot be taken. */
function problemOf(now: string | undefined, before: string, after: string) {
  if (now === undefined) return 'there is no such text';
  if (now.trim() !== before.trim()) return `the text has changed since the export, it is now "${now}"`;
  const filled = (text: string) => (text.match(/\$?\{[^}]*\}|%[ds]/g) ?? []).sort().join(' ');
  if (filled(now) !== filled(after)) return `the correction must have ${filled(now) || 'no words in braces'}`;
}

function write(root: string, changes: readonly Change[]) {
  // From the end of each file, so that the earlier positions stay right.
  for (const { file, start, end, literal } of changes.toSorted((a, b) => b.start - a.start)) {
    const code = readFileSync(join(root, file), 'utf8');
    writeFileSync(join(root, file), code.slice(0, start) + literal + code.slice(end));
  }
}
