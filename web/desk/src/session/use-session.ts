import { listen } from '@desk/backend/listen';
import { type Access, readAccess, signInByLink, watchSession } from '@desk/backend/session';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { OneTimeLink } from './opened-link';

/** The user and the access of the session, kept current. A link signs in once. */
export function useSession(link: OneTimeLink | null) {
  const [user, setUser] = useState<string | null>();
  const [access, setAccess] = useState<Access>();
  const [linkFailed, setLinkFailed] = useState(false);
  const [error, setError] = useState<unknown>();
  const linkUsed = useRef(false);

  const reload = useCallback(async () => {
    try {
      setAccess(await readAccess());
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  }, []);

  useEffect(() => {
    let stop = () => {};
    let ended = false;
    watchSession((session, event) => {
      if (!session) setAccess(undefined);
      // The address names the open report; the next person on this device must not find it there.
      if (event === 'SIGNED_OUT') location.replace('#/');
      setUser(session?.user.id ?? null);
      if (event === 'MFA_CHALLENGE_VERIFIED' || event === 'USER_UPDATED') setTimeout(reload);
    }).then((unsubscribe) => {
      if (ended) unsubscribe();
      else stop = unsubscribe;
    }, setError);
    if (link && !linkUsed.current) {
      linkUsed.current = true;
      signInByLink(link.hash, link.type).catch(() => setLinkFailed(true));
    }
    return () => {
      ended = true;
      stop();
    };
  }, [link, reload]);

  useEffect(() => {
    if (user) void reload();
  }, [user, reload]);
  useFrequentReload(Boolean(user), reload);
  const staff = Boolean(user && access?.role);
  useEffect(() => (staff ? listen('staff', () => void reload()) : undefined), [staff, reload]);

  return { user, access, error, linkFailed, reload };
}

/**
 * Reads the access each minute and at each focus, so that a removed role or an ended session closes
 * the desk also without Realtime.
 */
function useFrequentReload(signedIn: boolean, reload: () => Promise<void>) {
  useEffect(() => {
    if (!signedIn) return;
    const look = () => document.visibilityState === 'visible' && void reload();
    const timer = setInterval(look, 60_000);
    window.addEventListener('focus', look);
    return () => {
      clearInterval(timer);
      window.removeEventListener('focus', look);
    };
  }, [signedIn, reload]);
}
