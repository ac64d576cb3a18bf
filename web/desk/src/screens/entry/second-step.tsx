import { signOut } from '@desk/backend/session';
import { Button } from '@desk/components/button';
import { message } from '@desk/components/message';
import { Problem } from '@desk/components/problem';
import { useText } from '@desk/i18n/language';
import { EnrolFactor } from '@desk/session/enrol-factor';
import { VerifyFactor } from '@desk/session/verify-factor';
import { useState } from 'react';
import { EntryFrame } from './entry-frame';

/** The second step of a sign-in: a code or a passkey. With enrol it begins by adding one. */
export function SecondStep({ enrol, onDone }: { enrol: boolean; onDone: () => void }) {
  const text = useText();
  const [error, setError] = useState('');
  const fail = (failure: unknown) => setError(message(failure, text));
  return (
    <EntryFrame title={enrol ? text.signIn.enrolTitle : text.signIn.factorTitle}>
      <Problem text={error} />
      {enrol ? (
        <EnrolFactor onDone={onDone} onError={fail} />
      ) : (
        <VerifyFactor onDone={onDone} onError={fail} />
      )}
      <Button variant="link" onClick={() => signOut('local')}>
        {text.signOut}
      </Button>
    </EntryFrame>
  );
}
