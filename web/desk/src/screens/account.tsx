import {
  enrolPasskey,
  listFactors,
  passkeysWork,
  removeFactor,
  setPassword,
  signOut,
} from '@desk/backend/session';
import { attempt } from '@desk/components/toast';
import { Button, Dialog, Failure, Field, Input, Loading, Panel, ScreenHead } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { shortTime, useLanguage, useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session-gate';
import { type FormEvent, useState } from 'react';
import { Enrol } from './entry/second-step';
import { minPassword } from './entry/welcome';

/** The person's own account. */
export default function Account() {
  const { text, language } = useLanguage();
  const access = useAccess();
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-4">
      <ScreenHead title={text.account.title} />
      <Panel>
        <p className="font-semibold wrap-anywhere">{access.email}</p>
        <p>
          {text.roles[access.role]}: {text.roleHelp[access.role]}
        </p>
        {access.session_ends && (
          <p className="text-muted-foreground text-sm">
            {text.account.until}: {shortTime(language, access.session_ends)}
          </p>
        )}
      </Panel>
      <Factors />
      <Password />
      <Panel title={text.account.everywhere}>
        <p className="text-muted-foreground mb-3">{text.account.everywhereHelp}</p>
        <Button variant="outline" onClick={() => attempt(text, () => signOut('global'))}>
          {text.account.everywhere}
        </Button>
      </Panel>
    </div>
  );
}

function Factors() {
  const text = useText();
  const { reload: reloadAccess } = useAccess();
  const { data, error, reload } = useLoad(listFactors, 'factors');
  const [adding, setAdding] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const done = () => {
    setAdding(false);
    reload();
    void reloadAccess();
  };
  return (
    <Panel title={text.account.factors}>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className="text-muted-foreground">{text.account.noFactor}</p>}
      <ul className="divide-y">
        {data?.map((factor) => (
          <li key={factor.id} className="flex items-center justify-between py-1.5">
            <span>{factor.kind === 'totp' ? text.account.app : text.account.passkey}</span>
            <Button
              variant="outline"
              onClick={() => attempt(text, () => removeFactor(factor.id), text.saved).then(done)}
            >
              {text.account.remove}
            </Button>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button variant="outline" onClick={() => setAdding(true)}>
          {text.account.addApp}
        </Button>
        {passkeysWork() && (
          <Button variant="outline" onClick={() => attempt(text, enrolPasskey, text.saved).then(done)}>
            {text.account.addPasskey}
          </Button>
        )}
      </div>
      {adding && (
        <Dialog title={text.account.addApp} onClose={() => setAdding(false)}>
          {problem !== undefined && <Failure error={problem} />}
          <Enrol onDone={done} onError={setProblem} />
        </Dialog>
      )}
    </Panel>
  );
}

function Password() {
  const text = useText();
  const [password, change] = useState('');
  const [error, setError] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (password.length < minPassword) return setError(text.signIn.passwordShort);
    setError('');
    await attempt(text, () => setPassword(password), text.saved);
    change('');
  };
  return (
    <Panel title={text.account.password}>
      <form onSubmit={submit} className="flex flex-col items-start gap-3" noValidate>
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
      </form>
    </Panel>
  );
}
