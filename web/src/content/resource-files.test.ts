import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { languages } from '@/i18n/language';
import { guideSlugs, loadGuide } from './guides';

const seed = readFileSync('../supabase/seed.sql', 'utf8');
const folder = '../supabase/seed/resources';

test('there is one PDF per guide and language', () => {
  const expected = guideSlugs.flatMap((slug) => languages.map((language) => `${slug}.${language}.pdf`));
  expect(readdirSync(folder).sort()).toEqual(expected.sort());
});

test.each(readdirSync(folder))('%s is a small PDF with its size and titles in seed.sql', async (name) => {
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
});
