import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { en } from '@/i18n/en';
import { so } from '@/i18n/so';
import { guideIcon } from '@/illustrations/guide-picture';
import { textsOf, words } from './guide-text';
import { type Guide, type GuideBlock, guideSlugs, loadGuide, loadGuides } from './guides';
import { sources } from './sources';

const english = await loadGuides('en');
const somali = await loadGuides('so');

test('every guide exists in both languages', () => {
  expect(english.map(({ slug }) => slug)).toEqual(guideSlugs);
  expect(somali.map(({ slug }) => slug)).toEqual(guideSlugs);
});

test('an unknown guide is null', async () => {
  expect(await loadGuide('en', 'no-such-guide')).toBeNull();
  expect(await loadGuide('so', '../en/antibiotics-guide')).toBeNull();
});

describe.each(english.map((guide, at) => ({ guide, translation: somali[at] as Guide })))(
  '$guide.slug',
  ({ guide, translation }) => {
    test('uses every type of block', () => {
      expect(new Set(guide.content.map(({ type }) => type))).toEqual(
        new Set(['section', 'checklist', 'warning']),
      );
    });

    test('has the same blocks, items and sources in both languages', () => {
      expect(translation.content.map(shape)).toEqual(guide.content.map(shape));
      const { icon, category, sources, signs } = guide;
      expect(translation).toMatchObject({ icon, category, sources, signs });
      for (const part of ['minute', 'now'] as const) {
        expect(guide[part]).toHaveLength(3);
        expect(translation[part]).toHaveLength(3);
      }
    });

    test('has a figure with a caption in both languages', () => {
      const figures = (each: Guide) =>
        each.content.flatMap((block) => (block.type === 'section' && block.figure ? [block.figure] : []));
      expect(figures(guide)).toHaveLength(1);
      expect(figures(translation).map(({ name }) => name)).toEqual(figures(guide).map(({ name }) => name));
    });

    test('has the same numbers in both languages', () => {
      guide.content.forEach((block, at) => {
        expect(amounts(translation.content[at] as GuideBlock)).toEqual(amounts(block));
      });
    });

    test('spells medicines the same in both languages', () => {
      const named = (each: Guide) => medicines.filter((name) => words(each).includes(name));
      expect(named(translation)).toEqual(named(guide));
    });

    test('has its picture in the list of resources', () => {
      expect(guideIcon(guide.slug)).toBe(guide.icon);
    });

    test('has its title in the words of the links to it', () => {
      const titlesOf = (words: typeof en) => words.guide.titles as Record<string, string>;
      expect(titlesOf(en)[guide.slug]).toBe(guide.title);
      expect(titlesOf(so)[guide.slug]).toBe(translation.title);
    });

    test('names its sources', () => {
      expect(guide.sources.length).toBeGreaterThan(3);
      for (const id of guide.sources) expect(sources[id].name).not.toBe('');
    });
  },
);

test.each([
  ['the site', () => somaliWords()],
  ['the desk', () => deskWords()],
  ['the pages of submit-report', () => file('functions/submit-report/messages.go')],
  ['the page of resource-list', () => file('functions/resource-list/texts.go')],
  ['the mail templates', () => goFiles('supabase/internal/engine/auth')],
  ['the resources of a new installation', () => file('supabase/seed.sql')],
])('uses the southern Somali spelling: %s', (_, text) => {
  expect(text()).not.toMatch(
    /\b(xidh|xidhiidh|jidh|yidhi|dawo|dawada|antibayootig|kadib|ka dib|iney|inuusan|aanad|kaliya|badh|dufcada)\b/i,
  );
  expect(text()).not.toMatch(/\b(fariin|fariim|wakhti|madhan|badhan)/i);
});

test.each([...english, ...somali])('$title: short sentences', (guide) => {
  const sentences = [...guide.minute, ...guide.now, ...guide.content.flatMap(textsOf)]
    .flatMap((text) => text.split(/(?<=[.:;?!])\s/))
    .map((sentence) => sentence.split(/\s+/).length);
  const mean = sentences.reduce((sum, length) => sum + length, 0) / sentences.length;
  expect(mean).toBeLessThan(12);
  expect(Math.max(...sentences)).toBeLessThan(32);
});

test.each(['home', 'learn', 'womens-health'] as const)(
  '%s spells medicines the same in both languages',
  (page) => {
    const named = (text: object) => {
      const words = JSON.stringify(text).toLowerCase();
      return medicines.filter((name) => words.includes(name));
    };
    expect(named(so[page])).toEqual(named(en[page]));
  },
);

test('REVIEW.md names every guide', () => {
  const review = readFileSync('src/content/REVIEW.md', 'utf8');
  for (const slug of guideSlugs) expect(review).toContain(slug);
});

test('each claim has a source, a date and, once ticked, a reviewer', () => {
  const review = readFileSync('src/content/REVIEW.md', 'utf8');
  const forPharmacist = review.slice(review.indexOf('## Pharmacist'), review.indexOf('## Native Somali'));
  const lines = forPharmacist.split('\n').filter((line) => /^\| \[/.test(line));
  expect(lines.length).toBeGreaterThan(40);
  for (const line of lines) {
    const [, ticked, claim, source, date, reviewer] = line.split('|').map((cell) => cell.trim());
    for (const cell of [claim, source, date]) expect(cell, line).not.toBe('');
    expect(ticked === '[x]', line).toBe(reviewer !== '');
  }
});

test('every Somali word in REVIEW.md is in the texts', () => {
  const review = readFileSync('src/content/REVIEW.md', 'utf8');
  const questions = review.slice(review.indexOf('## Native Somali speaker'), review.indexOf('## Places'));
  const asked = [...questions.matchAll(/^- \[.\].*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/_([^_/]+)_/g)].flatMap(([, word = '']) => word.toLowerCase().split(' … ')),
  );
  const all = `${somaliWords()} ${deskWords()}`.toLowerCase();
  expect(asked.length).toBeGreaterThan(30);
  expect(asked.filter((word) => !all.includes(word))).toEqual([]);
});

const medicines = [
  'paracetamol',
  'ibuprofen',
  'naproxen',
  'diclofenac',
  'aspirin',
  'codeine',
  'tramadol',
  'morphine',
  'naloxone',
  'mercury',
  'hydroquinone',
  'clobetasol',
  'betamethasone',
  'tretinoin',
  'isotretinoin',
  'valproate',
  'warfarin',
  'tetracyclines',
  'kanamycin',
  'penicillin',
  'rifampicin',
  'prednisolone',
  'dexamethasone',
  'metamizole',
  'dipyrone',
];

function shape(block: GuideBlock) {
  return block.type === 'checklist' ? `checklist of ${block.items.length}` : block.type;
}

function file(path: string) {
  return readFileSync(`../${path}`, 'utf8');
}

/** Returns the code of a folder and the folders below it. */
function code(folder: string, extension: string) {
  const files = readdirSync(`../${folder}`, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith(extension))
    .map((name) => file(`${folder}/${name}`))
    .join('\n');
}

const goFiles = (folder: string) => code(folder, '.go');

/** Returns the Somali texts of the desk. Some are functions, so this is their code. */
const deskWords = () => code('web/desk/src/i18n/so', '.ts');

function somaliWords() {
  return `${somali.map(words).join(' ')} ${JSON.stringify(so)}`;
}

/** Returns the numbers with two digits or a unit. Smaller ones may be words in one language and digits in the other. */
function amounts(block: GuideBlock) {
  const found = textsOf(block)
    .join(' ')
    .matchAll(/\d[\d,.]*\d|\d(?=\s?(?:g|%|°))/g);
  return [...found].map(([amount]) => amount).sort();
}
