// @vitest-environment jsdom
import { type Access, setPassword } from '@desk/backend/session';
import { LanguageProvider } from '@desk/i18n/language';
import '@desk/testing';
import { act, fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { SessionGate } from './session-gate';

const access = vi.hoisted((): Partial<Access> => ({ name: null }));
vi.mock('@desk/session/use-session', () => ({
  forgetPerson: () => {},
  useSession: () => ({ user: 'm1', access: { id: 'm1', role: 'editor', ...access }, reload: async () => {} }),
}));
vi.mock('@desk/session/opened-link', async (load) => ({
  ...(await load<object>()),
  isMailedLink: () => true,
}));
vi.mock('@desk/backend/session', () => ({
  hasSignedOut: () => false,
  setName: vi.fn(async () => {}),
  setPassword: vi.fn(),
}));

const gate = () => (
  <LanguageProvider>
    <SessionGate>desk</SessionGate>
  </LanguageProvider>
);

test('a password that is refused is told although the name is set by then', async () => {
  const { rerender } = render(gate());
  vi.mocked(setPassword).mockImplementation(async () => {
    access.name = 'Hodan'; // the session tells of the changed user
    rerender(gate());
    throw new Error('refused');
  });
  fireEvent.change(screen.getByLabelText(/^Your name/), { target: { value: 'Hodan' } });
  fireEvent.change(screen.getByLabelText('New password'), { target: { value: 'seven goats cross' } });
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Save' })));
  expect(screen.getByText('refused')).toBeTruthy();
});

test('after the end of the session the way leads to the sign-in', () => {
  Object.assign(access, { role: null, member: true, second_factor: true });
  render(gate());
  expect(screen.getByText('Your session has ended. Sign in again.')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Sign in' })).toBeTruthy();
});
