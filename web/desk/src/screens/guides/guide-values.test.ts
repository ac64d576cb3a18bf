import type { Guide } from '@desk/backend/guides';
import { expect, test } from 'vitest';
import { changesOf, guideValues } from './guide-values';

test('only what was changed is sent, and an empty translation is none', () => {
  const guide = guideValues({ slug: 'pain', title: 'Old', title_so: 'Hore', description: 'x' } as Guide);
  expect(changesOf(guide, { ...guide, title: ' Pain ', title_so: ' ', description: '' })).toEqual({
    title: 'Pain',
    title_so: null,
    description: '',
  });
  expect(changesOf(guide, { ...guide })).toEqual({});
});
