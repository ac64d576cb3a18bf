import { expect, test } from 'vitest';
import { merge } from './merge';

const base = { title: 'A', title_so: '', category: 'Safety', description: 'old', is_active: false };

test('fields of one person are merged, fields of both are named and stay', () => {
  const mine = { ...base, title: 'Mine', description: 'same', is_active: true };
  const theirs = { ...base, title: 'Theirs', description: 'same', category: 'Use' };
  expect(merge(base, mine, theirs)).toEqual({
    values: { ...base, title: 'Mine', description: 'same', category: 'Use', is_active: true },
    both: ['title'],
  });
});

test('an untouched form takes everything', () => {
  const theirs = { ...base, title: 'Theirs', title_so: 'Tooda' };
  expect(merge(base, base, theirs)).toEqual({ values: theirs, both: [] });
});
