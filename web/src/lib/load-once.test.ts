import { expect, test, vi } from 'vitest';
import { lateModule } from './late-module';
import { loadOnce } from './load-once';

test('loadOnce loads once, and again after a failure', async () => {
  const load = vi.fn().mockRejectedValueOnce(new Error('offline')).mockResolvedValue('loaded');
  const once = loadOnce(load);
  await expect(once()).rejects.toThrow('offline');
  expect(await Promise.all([once(), once()])).toEqual(['loaded', 'loaded']);
  expect(load).toHaveBeenCalledTimes(2);
});

test('lateModule tells its subscribers when it is loaded', async () => {
  const late = lateModule(async () => ({ answer: 42 }));
  const listener = vi.fn();
  const unsubscribed = vi.fn();
  late.subscribe(listener);
  late.subscribe(unsubscribed)();
  expect(late.current()).toBeUndefined();
  await late.load();
  expect(late.current()).toEqual({ answer: 42 });
  expect(listener).toHaveBeenCalledOnce();
  expect(unsubscribed).not.toHaveBeenCalled();
});
