import { sendLink, signInByCode, signInByPassword, signOut } from '@desk/backend/session';
import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { Problem } from '@desk/components/problem';
import { useText } from '@desk/i18n/language';
import { useEffect, useState } from 'react';
import { Input } from '@/components/ui/input';
import { EntryFrame } from './entry-frame';
import { signInError } from './sign-in-error';

type Step = 'password' | 'link' | 'code';

interface Props {
  problem: string;
  again?: string; // the address of a person whose session has ended, and whose page is still open
}

/** Sign-in by password, or by a mailed link or code. */
export function SignIn({ problem, again }: Props) {
  const text = useText();
  const [step, setStep] = useState<Step>('password');
  const [email, setEmail] = useState(again ?? '');
  const [secret, setSecret] = useState('');
  const [error, setError] = useState('');

  useEffect(() => {
    if (problem) setStep('link'); // the link that failed is replaced by a new one
  }, [problem]);

  const submit = async () => {
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
      setError(signInError(failure, text));
    }
  };
  const switchStep = () => {
    setError('');
    setSecret('');
    setStep(step === 'password' ? 'link' : 'password');
  };
  const action = {
    password: text.signIn.submit,
    link: text.signIn.link,
    code: text.signIn.submitCode,
  };
  return (
    <EntryFrame title={text.signIn.title}>
      <p className="text-muted-foreground">
        {step === 'code' ? text.signIn.sent(email) : again ? text.signIn.again : text.signIn.intro}
      </p>
      <Problem text={error || problem} />
      <Form onSubmit={submit} className="flex flex-col gap-3">
        {step !== 'code' && (
          <Field label={text.signIn.email}>
            {(props) => (
              <Input
                {...props}
                type="email"
                required
                autoComplete="username"
                readOnly={again !== undefined}
                value={email}
                onChange={(e) => setEmail(e.target.value)}
              />
            )}
          </Field>
        )}
        {step !== 'link' && <Secret kind={step} value={secret} onChange={setSecret} />}
        <Button type="submit" className="min-h-11!">
          {action[step]}
        </Button>
      </Form>
      <Button variant="link" onClick={switchStep}>
        {step === 'password' ? text.signIn.link : text.signIn.back}
      </Button>
      {again && (
        <Button variant="link" onClick={() => signOut('local')}>
          {text.signIn.leave}
        </Button>
      )}
    </EntryFrame>
  );
}

interface SecretProps {
  kind: 'password' | 'code';
  value: string;
  onChange: (value: string) => void;
}

function Secret({ kind, value, onChange }: SecretProps) {
  const text = useText();
  const attributes =
    kind === 'password'
      ? ({ type: 'password', autoComplete: 'current-password' } as const)
      : ({ inputMode: 'numeric', autoComplete: 'one-time-code' } as const);
  return (
    <Field key={kind} label={text.signIn[kind]}>
      {(props) => (
        <Input {...props} {...attributes} required value={value} onChange={(e) => onChange(e.target.value)} />
      )}
    </Field>
  );
}

/** Tells a signed-in person why the desk is closed. */
export function NoAccess({ step }: { step: 'ended' | 'not-staff' }) {
  const text = useText();
  const ended = step === 'ended';
  return (
    <EntryFrame title={text.signIn.title}>
      <p role="alert">{ended ? text.signIn.ended : text.signIn.notStaff}</p>
      <Button onClick={() => signOut('local')}>{ended ? text.signIn.title : text.signOut}</Button>
    </EntryFrame>
  );
}
