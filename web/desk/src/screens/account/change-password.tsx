import { setPassword } from '@desk/backend/session';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { tooShort } from '@desk/session/password';
import { useState } from 'react';
import { Input } from '@/components/ui/input';

export function ChangePassword() {
  const text = useText();
  const [current, changeCurrent] = useState('');
  const [password, change] = useState('');
  const [error, setError] = useState('');
  const submit = async () => {
    if (tooShort(password)) return setError(text.signIn.passwordShort);
    setError('');
    const done = await attempt(text, () => setPassword(password, current).then(() => true), text.saved);
    if (!done) return;
    change('');
    changeCurrent('');
  };
  return (
    <Panel title={text.account.password}>
      <Form onSubmit={submit} className="flex flex-col items-start gap-3" noValidate>
        <Field label={text.account.current} className="w-full">
          {(props) => (
            <Input
              {...props}
              type="password"
              autoComplete="current-password"
              value={current}
              onChange={(e) => changeCurrent(e.target.value)}
            />
          )}
        </Field>
        <p className="text-muted-foreground text-sm">{text.account.currentHelp}</p>
        <Field label={text.signIn.newPassword} error={error} className="w-full">
          {(props) => (
            <Input
              {...props}
              type="password"
              autoComplete="new-password"
              value={password}
              onChange={(e) => change(e.target.value)}
            />
          )}
        </Field>
        <Button type="submit" variant="outline">
          {text.save}
        </Button>
      </Form>
    </Panel>
  );
}
