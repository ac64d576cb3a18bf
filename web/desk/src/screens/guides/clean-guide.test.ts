import { expect, test } from 'vitest';
import { cleanGuide } from './clean-guide';

test('only what was changed is sent, and an empty translation is none', () => {
  expect(cleanGuide({ title: ' Pain ', title_so: ' ', description: '', is_featured: false })).toEqual({
    title: 'Pain',
    title_so: null,
    description: '',
    is_featured: false,
  });
});
