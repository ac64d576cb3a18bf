// @vitest-environment jsdom
import type { Report } from '@desk/backend/reports';
import { renderDesk } from '@desk/testing';
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { Contacts } from './contacts';

vi.mock('@desk/backend/contacts', () => ({ logContact: vi.fn() }));
vi.mock('@desk/cases/reports-channel', () => ({ useReportsChannel: () => ({ tell: () => {} }) }));

const report = { id: 'r1', reference: 'DW-1', language: 'en', phone_e164: '+252612345678', contacts: [] };
const show = () => renderDesk(<Contacts report={report as unknown as Report} />, 'reviewer');
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
const message = () => screen.getByLabelText('Message') as HTMLTextAreaElement;
const choose = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

test('words of the member are replaced after a question alone', () => {
  show();
  press('Write a message');
  choose('Begin with', 'thanks');
  choose('Language', 'so');
  expect(message().value).toMatch(/^Salaan/); // it was the template's alone
  choose('Message', 'My own words');
  choose('Language', 'en');
  expect(message().value).toBe('My own words');
  press('Cancel');
  expect(message().lang).toBe('so');
  choose('Begin with', 'pack');
  press('Replace it');
  expect(message().value).toMatch(/^Salaan.*dufcadda/);
});

test('a message and its template stay together while they are closed', () => {
  show();
  press('Write a message');
  choose('Begin with', 'thanks');
  const words = message().value;
  press('Write a message');
  press('Write a message');
  expect(message().value).toBe(words);
});

test('a message and a call that are not saved are open again after a reload', () => {
  const { unmount } = show();
  press('Write a message');
  choose('Message', 'My own words');
  press('Log a call or message');
  choose('What was said or agreed', 'On Tuesday');
  choose('Outcome', 'call_later');
  unmount();
  show();
  expect(message().value).toBe('My own words');
  expect(screen.getByDisplayValue('On Tuesday')).toBeTruthy();
  expect(screen.getByDisplayValue('Call again later')).toBeTruthy();
});
