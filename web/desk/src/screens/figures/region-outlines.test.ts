import { expect, test } from 'vitest';
import { regions } from '@/content/regions';
import { outlines } from './region-outlines';

test('the map has every region that a report can name, and no other', () => {
  expect(Object.keys(outlines).sort()).toEqual(regions.map((r) => r.name).sort());
});
