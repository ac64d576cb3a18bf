import { expect, test } from 'vitest';
import { screenAt } from './routes';

test.each([
  ['/', '/', {}],
  ['/learn', '/learn/', {}],
  ['/learn/pain-management/', '/learn/:slug/', { slug: 'pain-management' }],
  ['/learn/a/b/', '/*', {}],
  ['/report/thank-you/', '/report/thank-you/', {}],
  ['/Learn/', '/*', {}],
  ['/no/such/page', '/*', {}],
])('%s is the screen at %s', (path, screen, params) => {
  expect(screenAt(path)).toMatchObject({ screen: { path: screen }, params });
});
