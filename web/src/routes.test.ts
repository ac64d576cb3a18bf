import { matchRoutes } from 'react-router-dom';
import { expect, test } from 'vitest';
import { routes, type Screen } from './routes';

test.each([
  ['/', '/', {}],
  ['/so/', '/', {}],
  ['/learn', '/learn/', {}],
  ['/so/learn/pain-management/', '/learn/:slug/', { slug: 'pain-management' }],
  ['/learn/a/b/', '/*', {}],
  ['/report/thank-you/', '/report/thank-you/', {}],
  ['/Learn/', '/*', {}],
  ['/so/no/such/page', '/*', {}],
])('%s is the screen at %s', (path, screen, params) => {
  const match = matchRoutes(routes, path)?.at(-1);
  expect((match?.route as { handle?: Screen } | undefined)?.handle?.path).toBe(screen);
  expect(match?.params).toMatchObject(params);
});
