import {
  type Enrolment,
  enrolPasskey,
  enrolTotp,
  type Factor,
  listFactors,
  passkeysWork,
  signOut,
  verifyPasskey,
  verifyTotp,
} from '@desk/backend/session';
import { message } from '@desk/components/message';
import { Button, Field, Input, Loading } from '@desk/components/ui';
import { useText } from '@desk/i18n/language';
import { type FormEvent, useEffect, useState } from 'react';
import { Entry } from './entry';

/** The second step of a sign-in: a code or a passkey. With enrol it begins by adding one. */
export function SecondStep({ enrol, onDone }: { enrol: boolean; onDone: () => void }) {
  const text = useText();
  const [error, setError] = useState('');
  const fail = (failure: unknown) => setError(message(failure, text));
  return (
    <Entry title={enrol ? text.signIn.enrolTitle : text.signIn.factorTitle}>
      {error && (
        <p role="alert" className="bg-destructive-soft text-destructive rounded-lg p-3">
          {error}
        </p>
      )}
      {enrol ? <Enrol onDone={onDone} onError={fail} /> : <Verify onDone={onDone} onError={fail} />}
      <Button variant="link" onClick={() => signOut('local')}>
        {text.signOut}
      </Button>
    </Entry>
  );
}

interface Step {
  onDone: () => void;
  onError: (failure: unknown) => void;
}

/** Adds a second factor: an authenticator app by its picture, or a passkey of this device. */
export function Enrol({ onDone, onError }: Step) {
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
      <Digits submit={(code) => verifyTotp(enrolment.id, code).then(onDone, onError)} />
      {passkeysWork() && (
        <Button variant="outline" onClick={() => enrolPasskey().then(onDone, onError)}>
          {text.signIn.enrolPasskey}
        </Button>
      )}
    </>
  );
}

function Verify({ onDone, onError }: Step) {
  const text = useText();
  const [factors, setFactors] = useState<Factor[]>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the factors do not change here
  useEffect(() => {
    listFactors().then(setFactors, onError);
  }, []);
  if (!factors) return <Loading />;
  const apps = factors.filter((f) => f.kind === 'totp');
  const passkey = factors.find((f) => f.kind === 'webauthn');
  return (
    <>
      {apps.length > 0 && (
        <>
          <p className="text-muted-foreground">{text.signIn.factorIntro}</p>
          <Digits submit={(code) => verifyAny(apps, code).then(onDone, onError)} />
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

/** Tries a code with each app; a person need not say which one it comes from. */
async function verifyAny(apps: Factor[], code: string) {
  let failure: unknown;
  for (const app of apps) {
    try {
      return await verifyTotp(app.id, code);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function Digits({ submit }: { submit: (code: string) => Promise<void> }) {
  const text = useText();
  const [code, setCode] = useState('');
  const [busy, setBusy] = useState(false);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    await submit(code.replace(/\s/g, ''));
    setBusy(false);
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-3">
      <Field label={text.signIn.digits}>
        {(props) => (
          <Input
            {...props}
            required
            inputMode="numeric"
            autoComplete="one-time-code"
            pattern="[0-9 ]{6,7}"
            value={code}
            onChange={(e) => setCode(e.target.value)}
          />
        )}
      </Field>
      <Button type="submit" disabled={busy} className="min-h-11!">
        {text.signIn.submitCode}
      </Button>
    </form>
  );
}
