import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toasts } from './toast';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const words = (list: ReturnType<typeof toasts>) => list.shown().map((each) => each.words);

test('a message goes after its time, an error later', () => {
  const list = toasts();
  list.success('Saved');
  list.error('failed');
  expect(words(list)).toEqual(['Saved', 'failed']);
  vi.advanceTimersByTime(4_000);
  expect(words(list)).toEqual(['failed']);
  vi.advanceTimersByTime(6_000);
  expect(words(list)).toEqual([]);
});

test('a message with the id of another takes its place and has its own time', () => {
  const list = toasts();
  list.success('first', { id: 'change', time: 10_000 });
  vi.advanceTimersByTime(9_000);
  list.success('second', { id: 'change', time: 10_000 });
  vi.advanceTimersByTime(9_000);
  expect(words(list)).toEqual(['second']);
  vi.advanceTimersByTime(1_000);
  expect(words(list)).toEqual([]);
});

test('errors go when their reader acts again', () => {
  const list = toasts();
  list.error('failed');
  list.success('Saved');
  list.dismissErrors();
  expect(words(list)).toEqual(['Saved']);
});

test('listeners hear each change until they leave', () => {
  const list = toasts();
  const heard = vi.fn();
  const leave = list.subscribe(heard);
  list.success('Saved', { id: 'a' });
  list.dismiss('a');
  expect(heard).toHaveBeenCalledTimes(2);
  leave();
  list.success('Saved');
  expect(heard).toHaveBeenCalledTimes(2);
});
