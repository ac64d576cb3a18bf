// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react';
import { createMemoryRouter, RouterProvider } from 'react-router-dom';
import { afterEach, expect, test, vi } from 'vitest';
import { type Language, LanguageContext } from '@/i18n/language';
import { loadText } from '@/i18n/text';
import { UnexpectedErrorScreen } from './unexpected-error-screen';

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

test.each([
  { language: 'en', title: 'Unexpected Application Error!', home: 'Return to Home', href: '/' },
  {
    language: 'so',
    title: 'Khalad lama filaan ah ayaa ka dhacay barnaamijka!',
    home: 'Ku noqo bogga hore',
    href: '/so/',
  },
] as const)('shows the error of a screen in $language', async ({ language, title, home, href }) => {
  vi.spyOn(console, 'error').mockImplementation(() => {}); // React and the router log the error too
  await loadText(language, ['unexpected-error']);
  show(language, new Error('the screen failed'));
  expect(screen.getByRole('heading').textContent).toBe(title);
  expect(screen.getByText('the screen failed')).toBeTruthy();
  expect(screen.getByRole('link', { name: home }).getAttribute('href')).toBe(href);
});

test('shows a thrown value that is not an Error', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await loadText('en', ['unexpected-error']);
  show('en', 'just words');
  expect(screen.getByText('just words')).toBeTruthy();
});

function show(language: Language, thrown: unknown) {
  const router = createMemoryRouter([
    {
      path: '/',
      element: <Failing thrown={thrown} />,
      errorElement: (
        <LanguageContext value={language}>
          <UnexpectedErrorScreen />
        </LanguageContext>
      ),
    },
  ]);
  render(<RouterProvider router={router} />);
}

function Failing({ thrown }: { thrown: unknown }): never {
  throw thrown;
}
