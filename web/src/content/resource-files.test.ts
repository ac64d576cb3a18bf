import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { languages } from '@/i18n/language';
import { guideSlugs, loadGuide } from './guides';

const seed = readFileSync('../supabase/seed.sql', 'utf8');
const folder = '../supabase/seed/resources';

const names = guideSlugs.flatMap((slug) => languages.map((language) => `${slug}.${language}`));
const files = readdirSync(folder).sort();

test('there is one PDF and one picture per guide and language', () => {
  expect(files).toEqual(names.flatMap((name) => [`${name}.pdf`, `${name}.webp`]).sort());
});

test.each(names)('the picture of %s has at most 12 kB and is in seed.sql', (name) => {
  const content = readFileSync(`${folder}/${name}.webp`);
  expect(content.subarray(8, 12).toString()).toBe('WEBP');
  expect(content.length).toBeLessThanOrEqual(12_000);
  expect(seed).toContain(`/storage/v1/object/public/resources/${name}.webp'`);
});

test.each(files.filter((name) => name.endsWith('.pdf')))(
  '%s is a small PDF with its size and titles in seed.sql',
  async (name) => {
    const { size } = statSync(`${folder}/${name}`);
    expect(size).toBeLessThan(150_000);
    expect(readFileSync(`${folder}/${name}`).subarray(0, 5).toString()).toBe('%PDF-');
    expect(seed).toContain(`/storage/v1/object/public/resources/${name}', ${size},`);
    const slug = name.split('.')[0] ?? '';
    for (const language of languages) {
      const guide = await loadGuide(language, slug);
      expect(seed).toContain(guide?.title);
      expect(seed).toContain(guide?.description);
    }
  },
);
