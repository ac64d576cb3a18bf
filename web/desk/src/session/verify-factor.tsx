import { type Factor, listFactors, verifyPasskey, verifyTotp } from '@desk/backend/second-factors';
import { Button } from '@desk/components/button';
import { Loading } from '@desk/components/loading';
import { useText } from '@desk/i18n/language';
import { firstSuccess } from '@desk/lib/first-success';
import { useEffect, useState } from 'react';
import { CodeForm } from './code-form';

interface Props {
  onDone: () => void;
  onError: (failure: unknown) => void;
}

/** Asks for a code of an authenticator app, or for a passkey. */
export function VerifyFactor({ onDone, onError }: Props) {
  const text = useText();
  const [factors, setFactors] = useState<Factor[]>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the factors do not change here
  useEffect(() => {
    listFactors().then(setFactors, onError);
  }, []);
  if (!factors) return <Loading />;
  const apps = factors.filter((f) => f.kind === 'totp');
  const passkey = factors.find((f) => f.kind === 'webauthn');
  // A person need not say which app the code comes from.
  const verify = (code: string) => firstSuccess(apps, (app) => verifyTotp(app.id, code));
  return (
    <>
      {apps.length > 0 && (
        <>
          <p className="text-muted-foreground">{text.signIn.factorIntro}</p>
          <CodeForm submit={(code) => verify(code).then(onDone, onError)} />
        </>
      )}
      {passkey && (
        <Button
          variant={apps.length > 0 ? 'outline' : 'default'}
          onClick={() => verifyPasskey(passkey.id).then(onDone, onError)}
        >
          {text.signIn.passkey}
        </Button>
      )}
    </>
  );
}
