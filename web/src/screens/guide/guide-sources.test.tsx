// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react';
import { MemoryRouter } from 'react-router-dom';
import { afterEach, expect, test, vi } from 'vitest';
import { dangerSources, sources } from '@/content/sources';
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
      <GuideSources sources={['NHS-PARA', 'PARA-OD', 'NHS-ANA']} />
    </MemoryRouter>,
  );
  const named = screen.getAllByRole('listitem').map(({ textContent }) => textContent);
  expect(named.slice(0, 3)).toEqual(['NHS-PARA', 'PARA-OD', 'NHS-ANA'].map(nameOf));
  expect(named).toEqual([...new Set(named)]);
  expect(named).toEqual(expect.arrayContaining(dangerSources.map(nameOf)));
  expect(complained).not.toHaveBeenCalled();
});

function nameOf(id: string) {
  return sources[id as keyof typeof sources].name;
}
