import {
  type Enrolment,
  enrolPasskey,
  enrolTotp,
  passkeysWork,
  verifyTotp,
} from '@desk/backend/second-factors';
import { Button } from '@desk/components/button';
import { Loading } from '@desk/components/loading';
import { useText } from '@desk/i18n/language';
import { useEffect, useState } from 'react';
import { CodeForm } from './code-form';

interface Props {
  onDone: () => void;
  onError: (failure: unknown) => void;
}

/** Adds a second factor: an authenticator app by its picture, or a passkey of this device. */
export function EnrolFactor({ onDone, onError }: Props) {
  const text = useText();
  const [enrolment, setEnrolment] = useState<Enrolment>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: one enrolment per visit
  useEffect(() => {
    let current = true;
    enrolTotp().then((e) => current && setEnrolment(e), onError);
    return () => {
      current = false;
    };
  }, []);
  if (!enrolment) return <Loading />;
  return (
    <>
      <p className="text-muted-foreground">{text.signIn.enrolIntro}</p>
      <img src={enrolment.picture} alt="" className="mx-auto size-44 rounded bg-white p-2" />
      <p className="text-sm">
        {text.signIn.enrolSecret} <code className="bg-muted rounded px-1 break-all">{enrolment.secret}</code>
      </p>
      <CodeForm submit={(code) => verifyTotp(enrolment.id, code).then(onDone, onError)} />
      {passkeysWork() && (
        <Button variant="outline" onClick={() => enrolPasskey().then(onDone, onError)}>
          {text.signIn.enrolPasskey}
        </Button>
      )}
    </>
  );
}
