// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { LanguageContext } from '@/i18n/language';
import { loadText } from '@/i18n/text';
import { maxCharacters } from './report';
import { ReportForm } from './report-form';

afterEach(cleanup);

test('limits every text field but the description to what the backend accepts', async () => {
  await loadText('en', ['layout', 'report']);
  render(
    <LanguageContext value="en">
      <ReportForm />
    </LanguageContext>,
  );
  const { location: _selected, issue_description: _checked, phone, ...typed } = maxCharacters;
  const maxLengthOf = (name: string) =>
    document.querySelector<HTMLInputElement | HTMLTextAreaElement>(`[name=${name}]`)?.maxLength;
  for (const [name, most] of Object.entries(typed)) expect(maxLengthOf(name), name).toBe(most);
  expect(maxLengthOf('phone')).toBe(phone - 6);
});
