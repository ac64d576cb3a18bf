import { mayPass } from '@desk/backend/client';
import { listen } from '@desk/backend/listen';
import {
  type Access,
  forgetSignOut,
  hasSignedOut,
  readAccess,
  signInByLink,
  watchSession,
} from '@desk/backend/session';
import { removeDrafts } from '@desk/lib/drafts';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { OneTimeLink } from './opened-link';

/**
 * The user and the access of the session, kept current. A link signs in once; until then there is no
 * known user. retry tries again what failed with error.
 */
export function useSession(link: OneTimeLink | null) {
  const [user, setUser] = useState<string | null>();
  const [access, setAccess] = useState<Access>();
  const [opening, setOpening] = useState(link !== null); // the link signs in, or waits for retry
  const [linkFailed, setLinkFailed] = useState(false);
  const [linkError, setLinkError] = useState<unknown>();
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

  const openLink = useCallback(async ({ hash, type }: OneTimeLink) => {
    setLinkError(undefined);
    try {
      await signInByLink(hash, type);
    } catch (failure) {
      if (mayPass(failure)) return setLinkError(failure);
      setLinkFailed(true);
    }
    setOpening(false);
  }, []);

  useEffect(() => {
    let stop = () => {};
    let ended = false;
    let last: string | null | undefined;
    watchSession((session, event) => {
      if (!session) setAccess(undefined);
      if (event === 'SIGNED_IN') forgetSignOut();
      if (event === 'SIGNED_OUT' && hasSignedOut()) forgetPerson();
      const id = session?.user.id ?? null;
      if (id) removeDrafts(id); // of a member whose session has ended in this tab
      setUser(id);
      // A person who signs in again is the same user, whose session is another one.
      const again = event === 'SIGNED_IN' && id === last;
      last = id;
      if (again || event === 'MFA_CHALLENGE_VERIFIED' || event === 'USER_UPDATED') setTimeout(reload);
    }).then((unsubscribe) => {
      if (ended) unsubscribe();
      else stop = unsubscribe;
    }, setError);
    if (link && !linkUsed.current) {
      linkUsed.current = true;
      void openLink(link);
    }
    return () => {
      ended = true;
      stop();
    };
  }, [link, openLink, reload]);

  useEffect(() => {
    if (user) void reload();
  }, [user, reload]);
  useFrequentReload(Boolean(user), reload);
  const staff = Boolean(user && access?.role);
  useEffect(() => (staff ? listen('staff', () => void reload()) : undefined), [staff, reload]);

  const retry = link && opening ? () => openLink(link) : () => location.reload();
  return { user: opening ? undefined : user, access, error: linkError ?? error, linkFailed, reload, retry };
}

/**
 * Removes what the tab keeps of a person. The address names the open report; the next person on this
 * device must not find it there.
 */
export function forgetPerson() {
  removeDrafts();
  location.replace('#/');
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
