import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { type Access, type Role, readAccess, signInByLink, watchSession } from './backend/session';
import { Failure, Loading } from './components/ui';
import { useText } from './i18n/language';
import { Entry } from './screens/entry/entry';
import { SecondStep } from './screens/entry/second-step';
import { SignIn } from './screens/entry/sign-in';
import { Welcome } from './screens/entry/welcome';

interface Value extends Access {
  role: Role;
  reload: () => Promise<void>;
}

const Context = createContext<Value | null>(null);

/** Returns the role and the account of the person who is signed in. */
export function useAccess(): Value {
  const value = use(Context);
  if (!value) throw new Error('useAccess needs a SessionGate above it');
  return value;
}

/** The one-time link of the command line: #/welcome?token_hash=…&type=…. It is taken out of the address at once. */
function takeLink() {
  const [path, query] = location.hash.slice(1).split('?');
  if (path !== '/welcome' || !query) return null;
  const values = new URLSearchParams(query);
  history.replaceState(null, '', '#/');
  const hash = values.get('token_hash');
  return hash ? { hash, type: values.get('type') ?? '' } : null;
}

const link = takeLink();
/** Whether the page was opened by the link of an invitation, after which a password is chosen. */
const invited = link !== null || /[#&]type=invite(&|$)/.test(location.hash);
let linkUsed = false;

/* A link that is opened in a tab of the desk changes the fragment alone, which loads nothing. */
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#/welcome?')) location.reload();
});

/** Shows the desk to staff, and to others the step that is missing: sign-in, the second step, or an explanation. */
export function SessionGate({ children }: { children: ReactNode }) {
  const text = useText();
  const [user, setUser] = useState<string | null>();
  const [access, setAccess] = useState<Access>();
  const [problem, setProblem] = useState('');
  const [error, setError] = useState<unknown>();
  const [welcomed, setWelcomed] = useState(!invited);

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
      setUser(session?.user.id ?? null);
      if (event === 'MFA_CHALLENGE_VERIFIED' || event === 'USER_UPDATED') setTimeout(reload);
    }).then((unsubscribe) => {
      if (ended) unsubscribe();
      else stop = unsubscribe;
    }, setError);
    if (link && !linkUsed) {
      linkUsed = true;
      signInByLink(link.hash, link.type).catch(() => setProblem('link'));
    }
    return () => {
      ended = true;
      stop();
    };
  }, [reload]);

  useEffect(() => {
    if (user) void reload();
  }, [user, reload]);

  // A role that was taken away, or a session that has ended, closes the desk within a minute, and at the next focus.
  useEffect(() => {
    if (!user) return;
    const look = () => document.visibilityState === 'visible' && void reload();
    const timer = setInterval(look, 60_000);
    window.addEventListener('focus', look);
    return () => {
      clearInterval(timer);
      window.removeEventListener('focus', look);
    };
  }, [user, reload]);

  const value = useMemo(
    () => (access?.role ? { ...access, role: access.role, reload } : null),
    [access, reload],
  );

  if (user === null) return <SignIn problem={problem === 'link' ? text.signIn.linkFailed : ''} />;
  if (user === undefined || !access) {
    return <Entry>{error ? <Failure error={error} retry={() => location.reload()} /> : <Loading />}</Entry>;
  }
  if (!value) return <Missing access={access} reload={reload} />;
  if (!welcomed) return <Welcome onDone={() => setWelcomed(true)} />;
  return <Context value={value}>{children}</Context>;
}

/** What an account lacks that is signed in and has no role now. */
function Missing({ access, reload }: { access: Access; reload: () => Promise<void> }) {
  const text = useText();
  if (access.member && !access.second_factor && (access.second_factor_required || access.has_factor)) {
    return <SecondStep enrol={!access.has_factor} onDone={reload} />;
  }
  return <SignIn problem={access.member ? text.signIn.ended : text.signIn.notStaff} signedIn />;
}
