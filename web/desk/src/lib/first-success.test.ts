import { expect, test, vi } from 'vitest';
import { firstSuccess } from './first-success';

const even = async (n: number) => {
  if (n % 2) throw new Error(`${n} is odd`);
  return n;
};

test('firstSuccess stops at the first success', async () => {
  const attempt = vi.fn(even);
  expect(await firstSuccess([1, 2, 3, 4], attempt)).toBe(2);
  expect(attempt).toHaveBeenCalledTimes(2);
});

test('firstSuccess throws the last error', async () => {
  await expect(firstSuccess([1, 3], even)).rejects.toThrow('3 is odd');
});
