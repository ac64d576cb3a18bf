import { type Role, roles } from '@desk/backend/session';
import { invite } from '@desk/backend/staff';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { type FormEvent, useState } from 'react';
import { Input, NativeSelect } from '@/components/ui/input';

/** The form that invites a member. */
export function Invite({ onDone }: { onDone: () => void }) {
  const text = useText();
  const [email, setEmail] = useState('');
  const [role, changeRole] = useState<Role>('reviewer');
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const mailed = await attempt(text, () => invite(email, role));
    setBusy(false);
    if (mailed === undefined) return;
    setDone(mailed ? text.staff.sent(email) : text.staff.added(email));
    setEmail('');
    onDone();
  };
  return (
    <Panel title={text.staff.invite}>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <Field label={text.staff.email} className="min-w-56 flex-1">
          {(props) => (
            <Input
              {...props}
              type="email"
              required
              autoComplete="off"
              value={email}
              onChange={(e) => setEmail(e.target.value)}
            />
          )}
        </Field>
        <Field label={text.staff.role} className="min-w-56">
          {(props) => (
            <NativeSelect {...props} value={role} onChange={(e) => changeRole(e.target.value as Role)}>
              {roles.map((name) => (
                <option key={name} value={name}>
                  {text.roles[name]}: {text.roleHelp[name]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Button type="submit" disabled={busy} className="min-h-11!">
          {text.staff.send}
        </Button>
      </form>
      <p role="status" className="text-done mt-2">
        {done}
      </p>
    </Panel>
  );
}
