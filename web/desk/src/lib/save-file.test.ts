// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import { saveFile } from './save-file';

afterEach(() => vi.useRealTimers());

test('the file stays readable while a browser begins to save it', () => {
  vi.useFakeTimers();
  const live = new Set<string>();
  URL.createObjectURL = () => {
    live.add('blob:file');
    return 'blob:file';
  };
  URL.revokeObjectURL = (url) => live.delete(url);
  const clicked = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
  saveFile('reports.csv', 'a,b', 'text/csv');
  expect(clicked).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(30_000);
  expect([...live]).toEqual(['blob:file']);
  vi.advanceTimersByTime(60_000);
  expect([...live]).toEqual([]);
});
