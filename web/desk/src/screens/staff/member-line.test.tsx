// @vitest-environment jsdom
import { type Member, setRole } from '@desk/backend/staff';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { MemberLine } from './member-line';

vi.mock('@desk/backend/staff', () => ({
  setRole: vi.fn(async () => {}),
  invitationLink: async () => 'https://desk.example.org/#/welcome?token_hash=x',
}));

const member = { id: 'm2', name: 'Asha', role: 'editor', email: 'asha@example.org' } as Member;

test('a role that is chosen changes after a question alone', async () => {
  renderDesk(<MemberLine member={member} onDone={() => {}} />);
  const role = screen.getByRole('combobox');
  fireEvent.change(role, { target: { value: 'owner' } });
  expect(setRole).not.toHaveBeenCalled();
  expect((role as HTMLSelectElement).value).toBe('editor');
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Change the role' })));
  expect(setRole).toHaveBeenCalledWith('m2', 'owner');
});

test('the link is shown where the browser refuses to copy it', async () => {
  renderDesk(<MemberLine member={member} onDone={() => {}} />);
  await act(async () => fireEvent.click(screen.getByRole('button', { name: /^Copy a link/ })));
  expect(screen.getByDisplayValue(/token_hash=x$/)).toBeTruthy();
});
