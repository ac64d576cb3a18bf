import { en } from '@desk/i18n/en';
import { so } from '@desk/i18n/so';
import { expect, test } from 'vitest';
import { backgroundOf, classOf, colours, isColour } from './colours';
import { iconNames } from './icons';

test('every colour and icon has a name in both languages, and no other has', () => {
  for (const { resources } of [en, so]) {
    expect(Object.keys(resources.colours).sort()).toEqual([...colours].sort());
    expect(Object.keys(resources.icons).sort()).toEqual([...iconNames].sort());
  }
});

test('an unknown colour is shown as the first', () => {
  expect(colours.map(classOf).every(isColour)).toBe(true);
  expect(backgroundOf('bg-sky-700')).toBe('bg-sky-700');
  for (const name of ['', 'bg-red-500', 'constructor']) expect(backgroundOf(name)).toBe('bg-teal-700');
});
