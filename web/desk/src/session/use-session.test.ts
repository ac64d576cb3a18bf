// @vitest-environment jsdom

import { ApiError } from '@desk/backend/client';
import { signInByLink, watchSession } from '@desk/backend/session';
import { draftOf, keepDraft } from '@desk/lib/drafts';
import { act, renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useSession } from './use-session';

vi.mock('@desk/backend/session', () => ({
  signInByLink: vi.fn(),
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

const link = { hash: 'h', type: 'invite' };

test('a link that the server could not answer is opened again, not called used', async () => {
  vi.mocked(signInByLink).mockRejectedValueOnce(new ApiError('{}', 'request_timeout'));
  const { result } = renderHook(() => useSession(link));
  const [changed] = vi.mocked(watchSession).mock.lastCall ?? [];
  await act(async () => changed?.(null, 'INITIAL_SESSION'));
  // Neither the form of a sign-in nor the desk of a person who was here before is shown.
  expect(result.current).toMatchObject({
    user: undefined,
    linkFailed: false,
    error: { code: 'request_timeout' },
  });
  vi.mocked(signInByLink).mockImplementationOnce(async () =>
    changed?.({ user: { id: 'm3' } } as never, 'SIGNED_IN'),
  );
  await act(async () => result.current.retry());
  expect(result.current).toMatchObject({ user: 'm3', linkFailed: false, error: undefined });
});

test('a link that was used before is called so', async () => {
  vi.mocked(signInByLink).mockRejectedValueOnce(new ApiError('expired', 'otp_expired'));
  const { result } = renderHook(() => useSession({ ...link }));
  const [changed] = vi.mocked(watchSession).mock.lastCall ?? [];
  await act(async () => changed?.(null, 'INITIAL_SESSION'));
  expect(result.current).toMatchObject({ user: null, linkFailed: true, error: undefined });
});
