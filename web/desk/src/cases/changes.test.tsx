// @vitest-environment jsdom
import { changeReports } from '@desk/backend/change-reports';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { ReportChanges, useChanges } from './changes';
import type { Known } from './inverse';

vi.mock('@desk/backend/change-reports', () => ({ changeReports: vi.fn() }));
vi.mock('./reports-channel', () => ({ useReportsChannel: () => ({ tell: () => {} }) }));

const report = { id: 'r1', reference: 'DW-1', version: 1 } as Known;

function Change() {
  const { change } = useChanges();
  return (
    <button type="button" onClick={() => change([report], { status: 'closed' }, 'Closed')}>
      change
    </button>
  );
}

test('two conflicts of one report are shown one after the other', async () => {
  const state = { version: 2, status: 'new' };
  vi.mocked(changeReports).mockResolvedValue([{ id: 'r1', result: 'conflict', state, by: null }] as never);
  renderDesk(
    <ReportChanges>
      <Change />
    </ReportChanges>,
  );
  for (let i = 0; i < 2; i++) await act(async () => fireEvent.click(screen.getByText('change')));
  act(() => screen.getByRole<HTMLDialogElement>('dialog').close()); // as Escape does
  expect(screen.getByRole<HTMLDialogElement>('dialog').open).toBe(true);
  act(() => screen.getByRole<HTMLDialogElement>('dialog').close());
  expect(screen.queryByRole('dialog')).toBeNull();
});
