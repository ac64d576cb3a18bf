import { beforeEach, expect, test, vi } from 'vitest';
import { type ChangeItem, changeReports } from './change-reports';
import { rpc } from './client';

vi.mock('./client', () => ({ rpc: vi.fn() }));

/** Milliseconds, because the processor may be busy. */
const patience = 30_000;

beforeEach(() => void vi.mocked(rpc).mockReset());

const sent = () => vi.mocked(rpc).mock.calls.map(([, args]) => args?.changes as ChangeItem[]);

test('a second change of a report waits for the first and names the version after it', async () => {
  const replies: ((value: unknown) => void)[] = [];
  vi.mocked(rpc).mockImplementation(() => new Promise((resolve) => replies.push(resolve)));
  const first = changeReports([{ id: 'a', version: 4, set: { status: 'reviewing' } }]);
  const second = changeReports([{ id: 'a', version: 4, set: { status: 'closed' } }]);
  await vi.waitFor(() => expect(replies).toHaveLength(1), patience);
  replies[0]?.([{ id: 'a', result: 'done', state: { version: 5 } }]);
  await first;
  await vi.waitFor(() => expect(replies).toHaveLength(2), patience);
  expect(sent()[1]).toEqual([{ id: 'a', version: 5, set: { status: 'closed' } }]);
  replies[1]?.([{ id: 'a', result: 'done', state: { version: 6 } }]);
  await second;
});

test('a conflict leaves the seen version, and a failure does not hold the next change', async () => {
  vi.mocked(rpc).mockResolvedValueOnce([{ id: 'b', result: 'conflict', state: { version: 9 }, by: null }]);
  await changeReports([{ id: 'b', version: 1, set: { status: 'closed' } }]);
  vi.mocked(rpc).mockRejectedValueOnce(new Error('away'));
  await expect(changeReports([{ id: 'b', version: 1, set: {} }])).rejects.toThrow('away');
  vi.mocked(rpc).mockResolvedValueOnce([]);
  await changeReports([{ id: 'b', version: 1, set: {} }]);
  expect(sent().map((changes) => changes[0]?.version)).toEqual([1, 1, 1]);
});
