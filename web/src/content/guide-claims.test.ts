import { describe, expect, test } from 'vitest';
import { en } from '@/i18n/en';
import { words } from './guide-text';
import { type Guide, loadGuides } from './guides';
import { type DangerSign, signSources, sources, sourcesOf } from './sources';

const english = await loadGuides('en');

test('no guide has a claim without a source', () => {
  const all = english.map(words).join(' ');
  expect(all).not.toMatch(
    /finish the (pack|course)|infertil|completely safe|always poisonous|half a course/i,
  );
});

test('every source is used and has an https address', () => {
  const used = new Set<string>(english.flatMap(sourcesOf));
  const unused = Object.keys(sources).filter((id) => !used.has(id));
  expect(unused).toEqual([]);
  for (const { url } of Object.values(sources)) expect(url).toMatch(/^https:\/\//);
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
    ['pain-management', /measure syrup with the spoon or syringe/, ['NHS-PARA-C']],
    ['pain-management', /destroys the white blood cells.*sore throat.*stop it/, ['EMA-META']],
    ['pain-management', /last 3 months of pregnancy, and not while breastfeeding/, ['EMA-META-PREG']],
    ['pregnancy-medicine', /from 20 weeks of pregnancy avoid ibuprofen/, ['FDA-NSAID', 'MHRA-NSAID']],
    ['pain-management', /lay them on their side.*recovery position/, ['NHS-RECOVERY']],
    ['pain-management', /used needle or syringe can give you hepatitis or hiv/, ['WHO-INJ']],
  ] as const)('%s: %s', (slug, claim, ids) => {
    const guide = english.find((each) => each.slug === slug) as Guide;
    expect(words(guide)).toMatch(claim);
    expect(guide.sources).toEqual(expect.arrayContaining([...ids]));
  });

  test.each([
    ['slow', /Very slow breathing after a strong painkiller/, 'UNODC-WHO'],
    ['bleeding', /severe or bloody diarrhoea/, 'CDC-1'],
    ['poison', /Too much medicine .*even if the person feels well/, 'PARA-OD'],
  ] as const)('the danger sign %s', (sign, claim, id) => {
    expect(en.guide.danger.signs[sign]).toMatch(claim);
    expect(signSources[sign]).toContain(id);
  });
});

test('a guide has the danger signs of its own medicines, and their sources only', () => {
  const signs = Object.fromEntries(english.map((guide) => [guide.slug, guide.signs]));
  expect(signs['skin-cream-dangers']).not.toContain('slow');
  expect(signs['how-to-read-labels']).not.toContain('slow');
  expect(signs['pain-management']).toContain('slow');
  for (const guide of english) {
    expect(guide.signs.length, guide.slug).toBeGreaterThan(3);
    const own = sourcesOf(guide);
    expect(new Set(own).size).toBe(own.length);
    const others = (Object.keys(signSources) as DangerSign[]).filter((sign) => !guide.signs.includes(sign));
    const foreign = others.flatMap((sign) => signSources[sign] as readonly string[]);
    const named = [...guide.sources, ...guide.signs.flatMap((sign) => signSources[sign])] as string[];
    expect(own.filter((id) => foreign.includes(id) && !named.includes(id))).toEqual([]);
  }
});

test('a date of publication is one', () => {
  for (const { published } of Object.values(sources))
    expect(published ?? '2026').toMatch(/^(19|20)\d\d(-[01]\d-[0-3]\d)?$/);
});

test('no guide has a dose for a child', () => {
  for (const guide of english) {
    for (const sentence of words(guide).split(/(?<=[.:;?!])\s/)) {
      if (/\bchild|\bbaby|\bbabies/.test(sentence)) expect(sentence).not.toMatch(/\d\s?(mg|ml|g)\b/);
    }
  }
});
