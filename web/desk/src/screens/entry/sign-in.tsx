import { sendLink, signInByCode, signInByPassword, signOut } from '@desk/backend/session';
import { message } from '@desk/components/message';
import { Button, Field, Input } from '@desk/components/ui';
import type { Text } from '@desk/i18n/en';
import { useText } from '@desk/i18n/language';
import { type FormEvent, useState } from 'react';
import { Entry } from './entry';

type Step = 'password' | 'link' | 'code';

/** Sign-in by password, or by a mailed link or code. signedIn means that the account has no access: it is signed out first. */
export function SignIn({ problem, signedIn }: { problem?: string; signedIn?: boolean }) {
  const text = useText();
  const [step, setStep] = useState<Step>('password');
  const [email, setEmail] = useState('');
  const [secret, setSecret] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError('');
    try {
      if (step === 'password') await signInByPassword(email, secret);
      else if (step === 'code') await signInByCode(email, secret.trim());
      else {
        await sendLink(email);
        setSecret('');
        setStep('code');
      }
    } catch (failure) {
      setError(explain(failure, text));
    }
    setBusy(false);
  };

  if (signedIn) {
    return (
      <Entry title={text.signIn.title}>
        <p role="alert">{problem}</p>
        <Button onClick={() => signOut('local')}>{text.signOut}</Button>
      </Entry>
    );
  }
  return (
    <Entry title={text.signIn.title}>
      <p className="text-muted-foreground">{step === 'code' ? text.signIn.sent(email) : text.signIn.intro}</p>
      {(error || problem) && (
        <p role="alert" className="bg-destructive-soft text-destructive rounded-lg p-3">
          {error || problem}
        </p>
      )}
      <form onSubmit={submit} className="flex flex-col gap-3">
        {step !== 'code' && (
          <Field label={text.signIn.email}>
            {(props) => (
              <Input
                {...props}
                type="email"
                required
                autoComplete="username"
                value={email}
                onChange={(e) => setEmail(e.target.value)}
              />
            )}
          </Field>
        )}
        {step === 'password' && (
          <Field label={text.signIn.password}>
            {(props) => (
              <Input
                {...props}
                type="password"
                required
                autoComplete="current-password"
                value={secret}
                onChange={(e) => setSecret(e.target.value)}
              />
            )}
          </Field>
        )}
        {step === 'code' && (
          <Field label={text.signIn.code}>
            {(props) => (
              <Input
                {...props}
                required
                inputMode="numeric"
                autoComplete="one-time-code"
                value={secret}
                onChange={(e) => setSecret(e.target.value)}
              />
            )}
          </Field>
        )}
        <Button type="submit" disabled={busy} className="min-h-11!">
          {step === 'password'
            ? text.signIn.submit
            : step === 'link'
              ? text.signIn.link
              : text.signIn.submitCode}
        </Button>
      </form>
      <Button
        variant="link"
        onClick={() => {
          setError('');
          setSecret('');
          setStep(step === 'password' ? 'link' : 'password');
        }}
      >
        {step === 'password' ? text.signIn.link : text.signIn.back}
      </Button>
    </Entry>
  );
}

function explain(error: unknown, text: Text) {
  const code = (error as { code?: string }).code;
  if (code === 'invalid_credentials') return text.signIn.wrong;
  if (code === 'otp_expired') return text.signIn.wrongCode;
  if (code === 'over_email_send_rate_limit') return text.signIn.tooSoon;
  return message(error, text);
}
