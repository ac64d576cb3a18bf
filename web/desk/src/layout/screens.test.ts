import { expect, test } from 'vitest';
import { homeOf, linksOnPhone, screenAt, screensOf } from './screens';

const names = (role: 'reviewer' | 'editor' | 'owner') => screensOf(role).map(({ name }) => name);

test('a role sees its screens, in their order', () => {
  expect(names('reviewer')).toEqual(['reports', 'clusters', 'guides', 'figures', 'account']);
  expect(names('editor')).toEqual(['resources', 'guides', 'figures', 'account']);
  expect(names('owner')).toEqual([
    'reports',
    'clusters',
    'resources',
    'guides',
    'figures',
    'staff',
    'trail',
    'system',
    'account',
  ]);
});

test.each([
  ['reviewer', '/reports'],
  ['editor', '/resources'],
  ['owner', '/reports'],
] as const)('the first screen of %s is %s', (role, path) => {
  expect(homeOf(role)).toBe(path);
});

test.each([
  ['/reports', 'reports'],
  ['/reports/DW-2B3C/forward', 'reports'],
  ['/resources/new', 'resources'],
  ['/', undefined],
  ['/welcome', undefined],
])('%s belongs to %s', (path, name) => {
  expect(screenAt(path)?.name).toBe(name);
});

test('a phone has five links, or four and a button', () => {
  expect([3, 5, 6, 7].map(linksOnPhone)).toEqual([3, 5, 4, 4]);
});
