// @vitest-environment jsdom
import { setName, setPassword } from '@desk/backend/session';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Welcome } from './welcome';

vi.mock('@desk/backend/session', () => ({
  setName: vi.fn(async () => {}),
  setPassword: vi.fn(),
}));

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const fill = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

test('a second click on a slow line saves nothing twice', async () => {
  let reply = () => {};
  vi.mocked(setPassword).mockImplementation(() => new Promise((done) => (reply = done)));
  const done = vi.fn();
  renderDesk(<Welcome email="hodan@example.org" onDone={done} />);
  fill('Your name, as colleagues see it', 'Hodan');
  fill('New password', 'seven goats cross the river');
  const save = screen.getByRole('button', { name: 'Save' });
  save.focus();
  await act(async () => fireEvent.click(save));
  await act(async () => fireEvent.click(save));
  await act(async () => vi.advanceTimersByTime(1000));
  expect(save.textContent).toBe('One moment…');
  expect(document.activeElement).toBe(save); // a disabled button would lose it
  await act(async () => fireEvent.click(save));
  expect(setName).toHaveBeenCalledTimes(1);
  expect(setPassword).toHaveBeenCalledTimes(1);
  await act(async () => reply());
  expect(done).toHaveBeenCalledTimes(1);
  expect(save.textContent).toBe('Save');
});

test('a failure of the server is not shown as a fault of the password', async () => {
  vi.mocked(setPassword).mockRejectedValueOnce(new TypeError('no reply from the server'));
  renderDesk(<Welcome email="hodan@example.org" onDone={() => {}} />);
  fill('New password', 'seven goats cross the river');
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Save' })));
  expect(screen.getByRole('alert').textContent).toMatch(/does not reply/);
  expect(screen.getByLabelText('New password').getAttribute('aria-invalid')).toBeNull();
});
