import type { Role } from '@desk/backend/session';
import { LanguageProvider } from '@desk/i18n/language';
import { AccessContext } from '@desk/session/access';
import { cleanup, render } from '@testing-library/react';
import type { ReactElement } from 'react';
import { MemoryRouter } from 'react-router-dom';
import { afterEach, beforeEach } from 'vitest';

beforeEach(() => {
  // jsdom has no modal dialogs.
  HTMLDialogElement.prototype.showModal ??= function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close ??= function () {
    if (!this.open) return;
    this.open = false;
    this.dispatchEvent(new Event('close'));
  };
});

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
});

/** Renders a part of the desk for a member, in English unless localStorage says otherwise. */
export function renderDesk(part: ReactElement, role: Role = 'owner') {
  const member = {
    id: 'm1',
    role,
    member: true,
    second_factor_required: false,
    second_factor: true,
    has_factor: true,
    email: 'hodan@example.org',
    name: 'Hodan',
    session_ends: null,
    reload: async () => {},
  };
  return render(part, {
    wrapper: ({ children }) => (
      <LanguageProvider>
        <AccessContext value={member}>
          <MemoryRouter>{children}</MemoryRouter>
        </AccessContext>
      </LanguageProvider>
    ),
  });
}
