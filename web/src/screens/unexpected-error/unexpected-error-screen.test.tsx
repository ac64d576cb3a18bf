// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { type Language, LanguageContext } from '@/i18n/language';
import { loadText } from '@/i18n/text';
import { UnexpectedErrorScreen } from './unexpected-error-screen';

afterEach(cleanup);

test.each([
  { language: 'en', title: 'Unexpected Application Error!', home: 'Return to Home', href: '/' },
  {
    language: 'so',
    title: 'Khalad lama filaan ah ayaa ka dhacay barnaamijka!',
    home: 'Ku noqo bogga hore',
    href: '/so/',
  },
] as const)('shows the error of a screen in $language', async ({ language, title, home, href }) => {
  await loadText(language, ['unexpected-error']);
  show(language, new Error('the screen failed'));
  expect(screen.getByRole('heading').textContent).toBe(title);
  expect(screen.getByText('the screen failed')).toBeTruthy();
  expect(screen.getByRole('link', { name: home }).getAttribute('href')).toBe(href);
});

test('shows a thrown value that is not an Error', async () => {
  await loadText('en', ['unexpected-error']);
  show('en', 'just words');
  expect(screen.getByText('just words')).toBeTruthy();
});

function show(language: Language, error: unknown) {
  render(
    <LanguageContext value={language}>
      <UnexpectedErrorScreen error={error} />
    </LanguageContext>,
  );
}
