// @vitest-environment jsdom
import { watchSession } from '@desk/backend/session';
import { draftOf, keepDraft } from '@desk/lib/drafts';
import { act, renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useSession } from './use-session';

vi.mock('@desk/backend/session', () => ({
  watchSession: vi.fn(async () => () => {}),
  readAccess: async () => ({ role: null }),
  forgetSignOut: () => {},
  hasSignedOut: () => false,
}));

test('another member who signs in on the same tab finds no draft of the one before', async () => {
  keepDraft('m1:note:DW-1', 'half');
  keepDraft('m2:note:DW-1', 'own');
  renderHook(() => useSession(null));
  const [changed] = vi.mocked(watchSession).mock.calls[0] ?? [];
  await act(async () => changed?.({ user: { id: 'm2' } } as never, 'SIGNED_IN'));
  expect([draftOf('m1:note:DW-1'), draftOf('m2:note:DW-1')]).toEqual([undefined, 'own']);
});
