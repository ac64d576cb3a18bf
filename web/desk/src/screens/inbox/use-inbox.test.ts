// @vitest-environment jsdom
import { listReports, type Row } from '@desk/backend/reports';
import { act, renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useInbox } from './use-inbox';

vi.mock('@desk/backend/reports', () => ({
  firstSize: 2,
  pageSize: 2,
  largePage: 2,
  countReports: async () => ({ new: 4 }),
  rowsOf: async () => [],
  listReports: vi.fn(),
}));
vi.mock('@desk/cases/use-signals', () => ({ useSignals: () => false }));

const rows = (...ids: string[]) => ids.map((id) => ({ id, created_at: `2026-11-0${id}` }) as Row);

test('a failure at the end of the list is not repeated before the person tries again', async () => {
  const list = vi.mocked(listReports);
  list.mockResolvedValueOnce(rows('4', '3'));
  const { result } = renderHook(() => useInbox({}, () => false));
  await act(async () => {});
  expect(result.current.rows).toHaveLength(2);

  list.mockRejectedValue(new Error('offline'));
  for (let i = 0; i < 3; i++) await act(async () => result.current.more());
  expect(list).toHaveBeenCalledTimes(2);

  list.mockResolvedValueOnce(rows('4', '3')).mockResolvedValueOnce(rows('2', '1'));
  await act(async () => result.current.refresh());
  await act(async () => result.current.more());
  expect(result.current.rows.map(({ id }) => id)).toEqual(['4', '3', '2', '1']);
});
