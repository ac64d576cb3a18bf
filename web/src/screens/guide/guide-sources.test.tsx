// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react';
import { MemoryRouter } from 'react-router-dom';
import { afterEach, expect, test, vi } from 'vitest';
import { numberSources, sources } from '@/content/sources';
import { loadText } from '@/i18n/text';
import { GuideSources } from './guide-sources';

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

test('lists a source of both the guide and the danger signs once', async () => {
  const complained = vi.spyOn(console, 'error'); // React reports repeated keys
  await loadText('en', ['guide']);
  render(
    <MemoryRouter>
      <GuideSources
        guide={{
          slug: 'pain-management',
          sources: ['NHS-PARA', 'PARA-OD', 'NHS-ANA'],
          signs: ['swelling', 'poison', 'slow'],
        }}
      />
    </MemoryRouter>,
  );
  const named = screen.getAllByRole('listitem').map(({ textContent }) => textContent);
  expect(named).toEqual(['NHS-PARA', 'PARA-OD', 'NHS-ANA', 'UNODC-WHO', ...numberSources].map(nameOf));
  expect(complained).not.toHaveBeenCalled();
});

function nameOf(id: string) {
  const { name, published } = sources[id as keyof typeof sources];
  return `${name}, ${published ?? 'read 2026-11'}`;
}
