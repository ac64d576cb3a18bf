import { ApiError } from '@desk/backend/client';
import { type Role, roles } from '@desk/backend/session';
import { invite, type Member, setRole } from '@desk/backend/staff';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { ConfirmDialog } from '@desk/components/confirm-dialog';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { Panel } from '@desk/components/panel';
import { useLanguage } from '@desk/i18n/language';
import { useState } from 'react';
import { Input, NativeSelect } from '@/components/ui/input';

/** The form that invites a member. For the address of a member it asks before it changes the role. */
export function Invite({ members, onDone }: { members: Member[]; onDone: () => void }) {
  const { text, language } = useLanguage();
  const [email, setEmail] = useState('');
  const [role, changeRole] = useState<Role>('reviewer');
  const [done, setDone] = useState('');
  const [asked, ask] = useState<Member>();
  const submit = async () => {
    setDone('');
    const mailed = await attempt(text, () =>
      invite(email, role, language).catch((error) => {
        if (error instanceof ApiError && error.code === 'member_exists') return 'member' as const;
        throw error;
      }),
    );
    if (mailed === undefined) return;
    const known = members.find((m) => m.email?.toLowerCase() === email.toLowerCase());
    if (mailed === 'member') return known?.role === role ? setDone(text.staff.isMember(email)) : ask(known);
    setDone(mailed ? text.staff.sent(email) : text.staff.added(email));
    setEmail('');
    onDone();
  };
  return (
    <Panel title={text.staff.invite}>
      <Form onSubmit={submit} className="grid items-end gap-3 sm:grid-cols-2">
        <Field label={text.staff.email}>
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
        <Field label={text.staff.role}>
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
        <Button type="submit" className="justify-self-start">
          {text.staff.send}
        </Button>
      </Form>
      <p role="status" className="text-done mt-2">
        {done}
      </p>
      {asked && (
        <ConfirmDialog
          title={text.staff.changeTitle(asked.name, text.roles[asked.role], text.roles[role])}
          help={text.staff.changeHelp}
          action={text.staff.change}
          onClose={() => ask(undefined)}
          onConfirm={() => {
            ask(undefined);
            void attempt(text, () => setRole(asked.id, role), text.staff.changed(asked.name)).then(onDone);
          }}
        />
      )}
    </Panel>
  );
}
