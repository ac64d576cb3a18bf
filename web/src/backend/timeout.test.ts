// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/**
 * Replaces fetch with one that never replies, except to site.json if `siteReplies`. Resolves at the first request
 * without a reply.
 */
function deadConnection(siteReplies: boolean) {
  return new Promise<void>((requested) => {
    vi.stubGlobal('fetch', ((input, init) => {
      const site = { url: 'http://backend.test', publishableKey: 'key' };
      if (siteReplies && String(input) === '/site.json') return Promise.resolve(Response.json(site));
      requested();
      return new Promise((_, reject) => {
        const { signal } = init ?? {};
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    }) satisfies typeof fetch);
  });
}

async function expectTimeout(work: Promise<unknown>, requested: Promise<void>) {
  const failed = vi.fn();
  work.catch(failed);
  await requested;
  await vi.advanceTimersByTimeAsync(9_000);
  expect(failed).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failed).toHaveBeenCalledOnce();
}

beforeEach(() => {
  vi.resetModules(); // the client is created once per module
  vi.useFakeTimers();
  // The fake clock does not drive AbortSignal.timeout.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((after) => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(new DOMException('timed out', 'TimeoutError')), after);
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
])('%s times out on a dead connection', async (_, siteReplies) => {
  const requested = deadConnection(siteReplies);
  const { loadResources } = await import('./resources');
  await expectTimeout(loadResources(), requested);
});

test('the count of a download times out on a dead connection', async () => {
  const requested = deadConnection(true);
  const { trackDownload } = await import('./downloads');
  await expectTimeout(trackDownload('1'), requested);
});
