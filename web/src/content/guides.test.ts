import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { en } from '@/i18n/en';
import { so } from '@/i18n/so';
import { guideIcon } from '@/illustrations/guide-picture';
import { type Guide, type GuideBlock, guideReview, guideSlugs, loadGuide, loadGuides } from './guides';
import { dangerSources, sources } from './sources';

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
      const { icon, category, sources } = guide;
      expect(translation).toMatchObject({ icon, category, sources });
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
  ['the desk', () => file('web/desk/src/i18n/so.ts')],
  ['the pages of submit-report', () => file('functions/submit-report/messages.go')],
  ['the mail templates', () => goFiles('supabase/internal/engine/auth')],
  ['the resources of a new installation', () => file('supabase/seed.sql')],
])('uses the southern Somali spelling: %s', (_, text) => {
  expect(text()).not.toMatch(
    /\b(xidh|xidhiidh|jidh|yidhi|dawo|dawada|antibayootig|kadib|ka dib|iney|inuusan|aanad|kaliya|badh|dufcada)\b/i,
  );
  expect(text()).not.toMatch(/\b(fariin|fariim|wakhti|madhan|badhan)/i);
});

test.each([...english, ...somali])('$title: short sentences', (guide) => {
  const sentences = guide.content
    .flatMap(textsOf)
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

test('no guide has a claim without a source', () => {
  const all = english.map(words).join(' ');
  expect(all).not.toMatch(
    /finish the (pack|course)|infertil|completely safe|always poisonous|half a course/i,
  );
});

test('every source is used and has an https address', () => {
  const used = new Set<string>([...english.flatMap((guide) => guide.sources), ...dangerSources]);
  const unused = Object.keys(sources).filter((id) => !used.has(id));
  expect(unused).toEqual([]);
  for (const { url } of Object.values(sources)) expect(url ?? 'https://').toMatch(/^https:\/\//);
});

describe('claims have their source', () => {
  test.each([
    ['how-to-read-labels', /cannot read its label, or if it does not say what is inside/, ['FDA-HG']],
    ['skin-cream-dangers', /tretinoin with hydroquinone makes the side effects worse/, ['HC-BLUE']],
    ['pregnancy-medicine', /low-dose aspirin/, ['AAP-FDA']],
    ['pregnancy-medicine', /mercury can reach the baby/, ['FDA-HG']],
    ['pregnancy-medicine', /hydroquinone is not recommended/, ['HC-HQ']],
    ['pregnancy-medicine', /tretinoin is linked with birth defects/, ['HC-BLUE']],
    ['pain-management', /pain lasts more than a few days/, ['SOMED']],
    ['antibiotics-guide', /ever reacted badly to an antibiotic/, ['NHS-ALLERGY']],
    ['antibiotics-guide', /take it as soon as you remember.*skip the missed one/, ['NHS-MISSED']],
    ['antibiotics-guide', /tb is cured with several medicines/, ['WHO-TB', 'CDC-TB']],
    ['antibiotics-guide', /turns urine and tears orange/, ['CDC-TB']],
    ['pain-management', /dose depends on weight and age/, ['NHS-CHILD', 'NHS-PARA-C']],
    ['pain-management', /no ibuprofen for a child who has chickenpox/, ['NHS-CHILD']],
    ['pain-management', /lay them on their side.*recovery position/, ['NHS-RECOVERY']],
    ['pain-management', /used needle or syringe can give you hepatitis or hiv/, ['WHO-INJ']],
  ] as const)('%s: %s', (slug, claim, ids) => {
    const guide = english.find((each) => each.slug === slug) as Guide;
    expect(words(guide)).toMatch(claim);
    expect(guide.sources).toEqual(expect.arrayContaining([...ids]));
  });

  test.each([
    [/Very slow breathing after a strong painkiller/, 'UNODC-WHO'],
    [/severe or bloody diarrhoea/, 'CDC-1'],
    [/Too much medicine .*even if the person feels well/, 'PARA-OD'],
  ] as const)('the danger signs of every guide: %s', (claim, id) => {
    expect(en.guide.danger.signs.join('; ')).toMatch(claim);
    expect(dangerSources).toContain(id);
  });
});

test('REVIEW.md names every guide', () => {
  const review = readFileSync('src/content/REVIEW.md', 'utf8');
  for (const slug of guideSlugs) expect(review).toContain(slug);
});

test('a guide counts as reviewed only when a pharmacist has ticked every line', () => {
  const review = readFileSync('src/content/REVIEW.md', 'utf8');
  const forPharmacist = review.slice(review.indexOf('## Pharmacist'), review.indexOf('## Native Somali'));
  expect(forPharmacist).toMatch(/^- \[[ x]\]/m);
  expect(guideReview.reviewed !== null).toBe(!/^- \[ \]/m.test(forPharmacist));
});

test('no guide has a dose for a child', () => {
  for (const guide of english) {
    for (const sentence of words(guide).split(/(?<=[.:;?!])\s/)) {
      if (/\bchild|\bbaby|\bbabies/.test(sentence)) expect(sentence).not.toMatch(/\d\s?(mg|ml|g)\b/);
    }
  }
});

test('every Somali word in REVIEW.md is in the texts', () => {
  const review = readFileSync('src/content/REVIEW.md', 'utf8');
  const questions = review.slice(review.indexOf('## Native Somali speaker'), review.indexOf('## Places'));
  const asked = [...questions.matchAll(/^- \[.\].*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/_([^_/]+)_/g)].flatMap(([, word = '']) => word.toLowerCase().split(' … ')),
  );
  const all = `${somaliWords()} ${file('web/desk/src/i18n/so.ts')}`.toLowerCase();
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
];

function shape(block: GuideBlock) {
  return block.type === 'checklist' ? `checklist of ${block.items.length}` : block.type;
}

function textsOf(block: GuideBlock): readonly string[] {
  if (block.type === 'checklist') return block.items;
  return block.type === 'section' ? [block.title, block.content] : [block.content];
}

function words(guide: Guide) {
  return [guide.title, guide.description, ...guide.content.flatMap(textsOf)].join(' ').toLowerCase();
}

function file(path: string) {
  return readFileSync(`../${path}`, 'utf8');
}

/** Returns the code of a folder and the folders below it. */
function goFiles(folder: string) {
  const files = readdirSync(`../${folder}`, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.go'))
    .map((name) => file(`${folder}/${name}`))
    .join('\n');
}

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
