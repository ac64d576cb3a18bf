import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** A document of which a part has arrived. */
function stubDocument() {
  const listeners: (() => void)[] = [];
  const page = {
    readyState: 'loading',
    whole: false,
    all: { length: 3 },
    currentScript: {
      dataset: {
        incomplete: 'A part is missing',
        app: 'data:text/javascript,export const hydrate = () => {}',
      },
    },
    body: { append: vi.fn() },
    getElementById: () => (page.whole ? {} : null),
    createElement: () => ({ remove: vi.fn() }),
    addEventListener: (_: string, listener: () => void) => listeners.push(listener),
    finish() {
      page.whole = true;
      page.readyState = 'interactive';
      for (const listener of listeners) listener();
    },
  };
  return page;
}

let page: ReturnType<typeof stubDocument>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  page = stubDocument();
  vi.stubGlobal('document', page);
  vi.stubGlobal('navigator', {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('the application starts when the document arrives', async () => {
  const { start } = await import('./start-application');
  page.finish();
  await start();
});

test('the application starts when the end arrives after the page has said that it is missing', async () => {
  const { start } = await import('./start-application');
  const first = start();
  const refused = expect(first).rejects.toBe(0);
  await vi.advanceTimersByTimeAsync(13_000);
  await refused;
  expect(page.body.append).toHaveBeenCalledOnce();
  await expect(start()).rejects.toBe(0); // still missing
  page.finish();
  await start();
});
