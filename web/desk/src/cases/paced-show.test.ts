import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pacedShow, rest, spacing } from './paced-show';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the open report is shown at the join, and later ones after a rest and in the allowed number', () => {
  const sent: (string | null)[] = [];
  const { connect, show } = pacedShow();
  show('a');
  connect((report) => sent.push(report));
  vi.advanceTimersByTime(0);
  expect(sent).toEqual(['a']);
  vi.advanceTimersByTime(spacing);
  for (const report of ['b', 'c', 'd']) show(report); // paging
  vi.advanceTimersByTime(rest);
  expect(sent).toEqual(['a', 'd']);
  show(null);
  vi.advanceTimersByTime(spacing - 1);
  expect(sent).toEqual(['a', 'd']);
  vi.advanceTimersByTime(1);
  expect(sent).toEqual(['a', 'd', null]);
});

test('a channel that is joined again shows the report again, and a left one shows nothing', () => {
  const send = vi.fn();
  const { connect, show, stop } = pacedShow();
  show('a');
  connect(send);
  vi.advanceTimersByTime(0);
  connect(send);
  vi.advanceTimersByTime(0);
  expect(send.mock.calls).toEqual([['a'], ['a']]);
  show('b');
  stop();
  vi.advanceTimersByTime(spacing * 2);
  expect(send).toHaveBeenCalledTimes(2);
});
