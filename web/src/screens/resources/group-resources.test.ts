import { expect, test } from 'vitest';
import type { Resource } from '@/backend/resources';
import { groupResources } from './group-resources';

const row = (id: string, file_url: string, category = 'Safety') => ({ id, file_url, category }) as Resource;
const rows = [
  row('1', '/files/antibiotics-guide.so.pdf', 'Medicine'),
  row('2', '#'),
  row('3', 'https://elsewhere.example/a/antibiotics-guide.en.pdf', 'Medicine'),
  row('4', '/files/poster.xx.pdf'),
  row('5', '/files/expired-medicines.en.pdf'),
  row('6', '#'),
];
const ids = (groups: ReturnType<typeof groupResources>) =>
  groups.map(({ files }) => files.map(({ resource }) => resource.id).join('+'));

test('puts the languages of a guide into one group, the own language first', () => {
  expect(ids(groupResources(rows, 'en'))).toEqual(['3+1', '2', '4', '5', '6']);
  expect(ids(groupResources(rows, 'so'))).toEqual(['1+3', '2', '4', '5', '6']);
});

test('names the guide and the language of a file', () => {
  const [first, second, third] = groupResources(rows, 'en');
  expect(first).toMatchObject({ slug: 'antibiotics-guide', files: [{ language: 'en' }, { language: 'so' }] });
  expect(second?.slug).toBeUndefined();
  expect(third?.slug).toBeUndefined();
});

test('a replaced file stays with its guide, whatever its name is', () => {
  const replaced = [
    {
      ...row('1', '/storage/v1/object/public/resources/new-1a2b3c4d.pdf'),
      guide: 'pain',
      file_language: 'so',
    },
    { ...row('2', '/files/pain.en.pdf'), guide: 'pain', file_language: 'en' },
    { ...row('3', '/files/pain.en.pdf'), guide: null, file_language: 'en' }, // an editor took it out of the guide
  ] as Resource[];
  expect(ids(groupResources(replaced, 'en'))).toEqual(['2+1', '3']);
});
