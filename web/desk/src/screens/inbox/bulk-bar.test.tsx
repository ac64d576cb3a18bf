// @vitest-environment jsdom
import type { Row } from '@desk/backend/reports';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { BulkBar } from './bulk-bar';

const change = vi.fn(async (..._: unknown[]) => true);
vi.mock('@desk/cases/changes', () => ({ useChanges: () => ({ change }) }));

test('a status that is chosen waits for the button', async () => {
  const rows = [{ id: 'r1' }] as Row[];
  renderDesk(<BulkBar rows={rows} onDone={() => {}} />, 'reviewer');
  for (const value of ['new', 'reviewing'])
    fireEvent.change(screen.getByLabelText('Status'), { target: { value } });
  expect(change).not.toHaveBeenCalled();
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Apply' })));
  expect(change.mock.calls.map((call) => call[1])).toEqual([{ status: 'reviewing' }]);
});
