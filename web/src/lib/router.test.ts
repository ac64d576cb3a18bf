// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRouter } from './router';

beforeEach(() => history.replaceState(null, '', '/first/'));
afterEach(() => vi.restoreAllMocks());

/** Returns a router and, by their paths, the pages that it waits for. */
function pages() {
  const waiting = new Map<string, { resolve: (page: string) => void; reject: (error: Error) => void }>();
  const load = (pathname: string) =>
    new Promise<string>((resolve, reject) => waiting.set(pathname, { resolve, reject }));
  const router = createRouter({ load, isMissing: () => false, first: '/first/' });
  return { router, waiting };
}

test('shows the last of two links, whichever arrives first', async () => {
  const { router, waiting } = pages();
  const one = router.navigate('/one/');
  const two = router.navigate('/two/#part');
  waiting.get('/two/')?.resolve('two');
  waiting.get('/one/')?.resolve('one');
  await Promise.all([one, two]);
  expect(router.shown()).toMatchObject({ page: 'two', place: { pathname: '/two/', hash: '#part' } });
  expect(location.pathname).toBe('/two/');
});

test('keeps the page and the address until the next page is loaded', async () => {
  const { router, waiting } = pages();
  const listener = vi.fn();
  router.subscribe(listener);
  const next = router.navigate('/next/');
  expect(router.shown().page).toBe('/first/');
  expect(location.pathname).toBe('/first/');
  waiting.get('/next/')?.resolve('next');
  await next;
  expect(listener).toHaveBeenCalledOnce();
});

test('a part of the same page loads nothing', async () => {
  const { router, waiting } = pages();
  await router.navigate('#part');
  expect(waiting.size).toBe(0);
  expect(router.shown()).toMatchObject({ page: '/first/', place: { hash: '#part' } });
});

test('shows an error, and another page after it', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { router, waiting } = pages();
  const broken = router.navigate('/broken/');
  waiting.get('/broken/')?.reject(new Error('no such part'));
  await broken;
  expect(router.shown().failure).toEqual({ error: new Error('no such part') });
  const next = router.navigate('/next/');
  waiting.get('/next/')?.resolve('next');
  await next;
  expect(router.shown().failure).toBeUndefined();
});
