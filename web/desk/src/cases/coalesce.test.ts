import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { burst, coalesce, patience } from './coalesce';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('signals that come together lead to one refresh', async () => {
  const refresh = vi.fn(async () => {});
  const { signal } = coalesce(refresh);
  for (let i = 0; i < 5; i++) signal();
  expect(refresh).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(burst);
  expect(refresh).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10 * burst);
  expect(refresh).toHaveBeenCalledTimes(1);
});

test('a stream of signals does not hold up the refresh', async () => {
  const refresh = vi.fn(async () => {});
  const { signal } = coalesce(refresh);
  for (let i = 0; i < 20; i++) {
    signal();
    await vi.advanceTimersByTimeAsync(burst / 2);
  }
  expect(refresh.mock.calls.length).toBeGreaterThanOrEqual(5);
});

test('a slow refresh is not overtaken, and a later signal leads to one after it', async () => {
  let reply = () => {};
  const refresh = vi.fn(() => new Promise<void>((resolve) => (reply = resolve)));
  const { signal } = coalesce(refresh);
  signal();
  await vi.advanceTimersByTimeAsync(burst);
  signal();
  await vi.advanceTimersByTimeAsync(2 * burst);
  expect(refresh).toHaveBeenCalledTimes(1);
  reply();
  await vi.advanceTimersByTimeAsync(burst);
  expect(refresh).toHaveBeenCalledTimes(2);
});

test('a refresh without a reply does not end the refreshing', async () => {
  const refresh = vi.fn(() => new Promise<void>(() => {}));
  const { signal } = coalesce(refresh);
  signal();
  await vi.advanceTimersByTimeAsync(burst);
  signal();
  await vi.advanceTimersByTimeAsync(patience + burst);
  expect(refresh).toHaveBeenCalledTimes(2);
});

test('a screen that is left refreshes no more', async () => {
  let reply = () => {};
  const refresh = vi.fn(() => new Promise<void>((resolve) => (reply = resolve)));
  const { signal, stop } = coalesce(refresh);
  signal();
  await vi.advanceTimersByTimeAsync(burst);
  signal(); // during the refresh
  stop();
  reply();
  await vi.advanceTimersByTimeAsync(burst);
  expect(refresh).toHaveBeenCalledTimes(1);
});
