import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { useText } from '@desk/i18n/language';
import { AccessContext } from '@desk/session/access';
import { type EntryStep, entryStep } from '@desk/session/entry-step';
import { useHeldDesk } from '@desk/session/held-desk';
import { isInvitation, isMailedLink, isUsedLink, linkValues, takeLink } from '@desk/session/opened-link';
import { useSession } from '@desk/session/use-session';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { EntryFrame } from './screens/entry/entry-frame';
import { SecondStep } from './screens/entry/second-step';
import { NoAccess, SignIn } from './screens/entry/sign-in';
import { Welcome } from './screens/entry/welcome';

const link = takeLink();
/** Whether the page was opened by the link of an invitation, after which a password is chosen. */
const invited = link !== null || isInvitation(location.hash);
/** Whether it was opened by a link from a mail: a person without a name comes for the first time. */
const mailed = invited || isMailedLink(location.hash);
const usedLink = isUsedLink(location.hash);

/* A link that is opened in a tab of the desk changes the fragment alone, which loads nothing. */
window.addEventListener('hashchange', () => {
  if (linkValues(location.hash)) location.reload();
});

/**
 * Shows the desk to staff, and to others the step that is missing: sign-in, the second step, or an
 * explanation.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const text = useText();
  const { user, access, error, linkFailed, reload, retry } = useSession(link);
  const [greeted, setGreeted] = useState(!mailed);
  // Welcome itself sets the name, and stays until it is done.
  const [named, setNamed] = useState<boolean>();
  if (access?.role && named === undefined) setNamed(access.name !== null);
  const welcomed = greeted || (!invited && named === true);
  const step = entryStep({ user, access, welcomed });
  const held = useHeldDesk({ step, user, access });
  const value = useMemo(() => (held?.role ? { ...held, role: held.role, reload } : null), [held, reload]);
  const entry = step !== 'desk' && (
    <Entry
      step={held && step === 'ended' ? 'sign-in' : step}
      problem={linkFailed || usedLink ? text.signIn.linkFailed : ''}
      email={held?.email ?? access?.email ?? ''}
      error={error}
      held={held !== undefined}
      retry={retry}
      onDone={reload}
      onWelcomed={() => setGreeted(true)}
    />
  );
  useRefreshAfter(Boolean(held && entry));
  if (!value) return entry;
  return (
    <>
      {/* After the end of the session the page stays as it is, and shows nothing until the same person is back. */}
      <div inert={Boolean(entry)} className={entry ? 'invisible fixed inset-0 overflow-hidden' : undefined}>
        <AccessContext value={value}>{children}</AccessContext>
      </div>
      {entry}
    </>
  );
}

/** Brings the screens up to date when the person is back. */
function useRefreshAfter(away: boolean) {
  const was = useRef(away);
  useEffect(() => {
    if (was.current && !away) window.dispatchEvent(new Event('focus'));
    was.current = away;
  }, [away]);
}

interface EntryProps {
  step: EntryStep;
  problem: string;
  email: string;
  error: unknown;
  retry: () => unknown;
  held: boolean; // a desk is open behind it
  onDone: () => Promise<void>;
  onWelcomed: () => void;
}

/** The step that is missing for the desk. */
function Entry({ step, problem, email, error, retry, held, onDone, onWelcomed }: EntryProps) {
  switch (step) {
    case 'sign-in':
      return <SignIn problem={problem} again={held ? email : undefined} />;
    case 'loading':
      return <EntryFrame>{error ? <Failure error={error} retry={retry} /> : <Loading />}</EntryFrame>;
    case 'enrol-factor':
      return <SecondStep enrol onDone={onDone} />;
    case 'verify-factor':
      return <SecondStep enrol={false} onDone={onDone} />;
    case 'ended':
    case 'not-staff':
      return <NoAccess step={step} />;
    case 'welcome':
      return <Welcome email={email} onDone={onWelcomed} />;
    case 'desk':
      return null;
  }
}
