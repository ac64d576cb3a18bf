// @vitest-environment jsdom
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import ForwardScreen from './forward-screen';

vi.mock('@desk/backend/reports', () => ({
  readReport: async () => ({
    id: 'r1',
    reference: 'DW-1',
    language: 'en',
    issue_description: 'It burned.',
    notices: [],
  }),
}));
vi.mock('@desk/backend/staff', () => ({ listStaff: async () => [] }));
vi.mock('@desk/cases/e2b/save-cases', () => ({ saveCases: () => {} }));
vi.mock('./notice-facts', () => ({ noticeFacts: () => [] }));

const show = async () => {
  const page = renderDesk(<ForwardScreen />, 'reviewer');
  await act(async () => {});
  return page;
};
const description = () => screen.getByLabelText('Description') as HTMLTextAreaElement;
const read = () => screen.getByLabelText(/^I have read it/) as HTMLInputElement;

test('a description stays after a reload, and is read again after each change', async () => {
  const { unmount } = await show();
  fireEvent.click(read());
  expect(read().checked).toBe(true);
  fireEvent.change(description(), { target: { value: 'It burned me.' } });
  expect(read().checked).toBe(false);
  unmount();
  await show();
  expect(description().value).toBe('It burned me.');
  expect(read().checked).toBe(false);
});
