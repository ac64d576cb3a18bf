import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { useText } from '@desk/i18n/language';
import { AccessContext } from '@desk/session/access';
import { entryStep } from '@desk/session/entry-step';
import { isInvitation, linkValues, takeLink } from '@desk/session/opened-link';
import { useSession } from '@desk/session/use-session';
import { type ReactNode, useMemo, useState } from 'react';
import { EntryFrame } from './screens/entry/entry-frame';
import { SecondStep } from './screens/entry/second-step';
import { NoAccess, SignIn } from './screens/entry/sign-in';
import { Welcome } from './screens/entry/welcome';

const link = takeLink();
/** Whether the page was opened by the link of an invitation, after which a password is chosen. */
const invited = link !== null || isInvitation(location.hash);

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
  const { user, access, error, linkFailed, reload } = useSession(link);
  const [welcomed, setWelcomed] = useState(!invited);
  const value = useMemo(
    () => (access?.role ? { ...access, role: access.role, reload } : null),
    [access, reload],
  );
  switch (entryStep({ user, access, welcomed })) {
    case 'sign-in':
      return <SignIn problem={linkFailed ? text.signIn.linkFailed : ''} />;
    case 'loading':
      return (
        <EntryFrame>
          {error ? <Failure error={error} retry={() => location.reload()} /> : <Loading />}
        </EntryFrame>
      );
    case 'enrol-factor':
      return <SecondStep enrol onDone={reload} />;
    case 'verify-factor':
      return <SecondStep enrol={false} onDone={reload} />;
    case 'ended':
      return <NoAccess reason={text.signIn.ended} />;
    case 'not-staff':
      return <NoAccess reason={text.signIn.notStaff} />;
    case 'welcome':
      return <Welcome onDone={() => setWelcomed(true)} />;
    case 'desk':
      return <AccessContext value={value}>{children}</AccessContext>;
  }
}
