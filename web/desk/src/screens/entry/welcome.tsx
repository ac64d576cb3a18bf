import { enrolPasskey, passkeysWork } from '@desk/backend/second-factors';
import { setName, setPassword } from '@desk/backend/session';
import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { message } from '@desk/components/message';
import { Problem } from '@desk/components/problem';
import { useText } from '@desk/i18n/language';
import { tooShort } from '@desk/session/password';
import { useState } from 'react';
import { Input } from '@/components/ui/input';
import { EntryFrame } from './entry-frame';

/** After an invitation: a name and a password. */
export function Welcome({ email, onDone }: { email: string; onDone: () => void }) {
  const text = useText();
  const [error, setError] = useState('');
  const [short, setShort] = useState(false);
  const [name, changeName] = useState('');
  const [password, changePassword] = useState('');
  const finish = async (protect: () => Promise<void>) => {
    setError('');
    try {
      if (name.trim()) await setName(name.trim());
      await protect();
      onDone();
    } catch (failure) {
      setError(message(failure, text));
    }
  };
  const submit = async () => {
    setShort(tooShort(password));
    if (!tooShort(password)) await finish(() => setPassword(password));
  };
  return (
    <EntryFrame title={text.signIn.passwordTitle}>
      <p>
        {text.signIn.address} <strong className="wrap-anywhere">{email}</strong>
      </p>
      <p className="text-muted-foreground">{text.signIn.passwordIntro}</p>
      <Problem text={error} />
      <Form onSubmit={submit} className="flex flex-col gap-3" noValidate>
        <Field label={text.signIn.name}>
          {(props) => (
            <Input
              {...props}
              maxLength={80}
              autoComplete="name"
              value={name}
              onChange={(e) => changeName(e.target.value)}
            />
          )}
        </Field>
        <Field label={text.signIn.newPassword} error={short ? text.signIn.passwordShort : ''}>
          {(props) => (
            <Input
              {...props}
              type="password"
              required
              autoComplete="new-password"
              value={password}
              onChange={(e) => changePassword(e.target.value)}
            />
          )}
        </Field>
        <Button type="submit" className="min-h-11!">
          {text.save}
        </Button>
      </Form>
      {passkeysWork() && (
        // Later sign-ins take a mailed link and then the passkey.
        <Button variant="outline" className="min-h-11!" onClick={() => finish(enrolPasskey)}>
          {text.signIn.enrolPasskey}
        </Button>
      )}
      <Button variant="link" onClick={onDone}>
        {text.signIn.later}
      </Button>
    </EntryFrame>
  );
}
