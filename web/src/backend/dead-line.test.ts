// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** Puts a line that is dead in fetch's place, but for site.json if that answers; resolves when something is asked of it. */
function deadLine(siteAnswers: boolean) {
  return new Promise<void>((asked) => {
    vi.stubGlobal('fetch', ((input, init) => {
      const site = { url: 'http://backend.test', publishableKey: 'key' };
      if (siteAnswers && String(input) === '/site.json') return Promise.resolve(Response.json(site));
      asked();
      return new Promise((_, reject) => {
        const { signal } = init ?? {};
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    }) satisfies typeof fetch);
  });
}

async function expectToFailInTime(work: Promise<unknown>, asked: Promise<void>) {
  const failed = vi.fn();
  work.catch(failed);
  await asked;
  await vi.advanceTimersByTimeAsync(9_000);
  expect(failed).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failed).toHaveBeenCalledOnce();
}

beforeEach(() => {
  vi.resetModules(); // the backend is asked for once
  vi.useFakeTimers();
  // No fake clock moves the browser's own.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((after) => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(new DOMException('too late', 'TimeoutError')), after);
    return ending.signal;
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test.each([
  ['the list of resources', true],
  ['the address of the backend', false],
])('%s fails on a dead line', async (_, siteAnswers) => {
  const asked = deadLine(siteAnswers);
  const { loadResources } = await import('./resources');
  await expectToFailInTime(loadResources(), asked);
});

test('the count of a download fails on a dead line', async () => {
  const asked = deadLine(true);
  const { trackDownload } = await import('./downloads');
  await expectToFailInTime(trackDownload('1'), asked);
});
