import type { Role } from '@desk/backend/session';
import { endSessions, invite, listStaff, type Member, removeFactors, setRole } from '@desk/backend/staff';
import { attempt } from '@desk/components/toast';
import {
  Button,
  Dialog,
  Failure,
  Field,
  Input,
  Loading,
  NativeSelect,
  Panel,
  ScreenHead,
} from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { shortTime, useLanguage, useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session-gate';
import { type FormEvent, useState } from 'react';

const roles: Role[] = ['reviewer', 'editor', 'owner'];

/** The members of the staff; owners invite, change and remove them here. */
export default function Staff() {
  const text = useText();
  const { data, error, reload } = useLoad(listStaff, 'staff');
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4">
      <ScreenHead title={text.staff.title} />
      <Invite onDone={reload} />
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data && (
        <ul className="bg-card divide-y rounded-lg border">
          {data.map((member) => (
            <Line key={member.id} member={member} onDone={reload} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Invite({ onDone }: { onDone: () => void }) {
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

function Line({ member, onDone }: { member: Member; onDone: () => void }) {
  const { text, language } = useLanguage();
  const { id: me } = useAccess();
  const [asking, ask] = useState<'unlock' | 'remove'>();
  const change = (role: Role | null, done: string) =>
    attempt(text, () => setRole(member.id, role), done).then(onDone);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3 py-2">
      <div className="min-w-48 flex-1">
        <p className="font-semibold">
          {member.name}{' '}
          {member.id === me && <span className="text-muted-foreground font-normal">({text.you})</span>}
        </p>
        <p className="text-muted-foreground text-sm wrap-anywhere">{member.email}</p>
        <p className="text-muted-foreground text-xs">
          {text.staff.last}:{' '}
          {member.last_sign_in_at ? shortTime(language, member.last_sign_in_at) : text.staff.never} ·{' '}
          {text.staff.factor}: {member.has_factor ? text.staff.yes : text.staff.no} · {text.staff.sessions}:{' '}
          {member.sessions}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <NativeSelect
          aria-label={`${text.staff.role}: ${member.name}`}
          className="w-auto! pointer-fine:min-h-9! py-1!"
          value={member.role}
          onChange={(e) => change(e.target.value as Role, text.staff.changed(member.name))}
        >
          {roles.map((role) => (
            <option key={role} value={role}>
              {text.roles[role]}
            </option>
          ))}
        </NativeSelect>
        <Button
          variant="outline"
          aria-label={`${text.staff.end}: ${member.name}`}
          onClick={() => attempt(text, () => endSessions(member.id), text.system.done).then(onDone)}
        >
          {text.staff.end}
        </Button>
        {member.has_factor && member.id !== me && (
          <Button
            variant="outline"
            aria-label={`${text.staff.unlock}: ${member.name}`}
            onClick={() => ask('unlock')}
          >
            {text.staff.unlock}
          </Button>
        )}
        <Button
          variant="outline"
          aria-label={`${text.staff.remove}: ${member.name}`}
          onClick={() => ask('remove')}
        >
          {text.staff.remove}
        </Button>
      </div>
      {asking === 'unlock' && (
        <Question
          title={text.staff.unlockTitle(member.name)}
          help={text.staff.unlockHelp}
          action={text.staff.unlock}
          onClose={() => ask(undefined)}
          onDone={() =>
            attempt(text, () => removeFactors(member.id), text.staff.unlocked(member.name)).then(onDone)
          }
        />
      )}
      {asking === 'remove' && (
        <Question
          title={text.staff.removeTitle(member.name)}
          help={text.staff.removeHelp}
          action={text.staff.remove}
          onClose={() => ask(undefined)}
          onDone={() => change(null, text.staff.removed(member.name))}
        />
      )}
    </li>
  );
}

/** Asks before an action that a member notices. */
function Question(props: {
  title: string;
  help: string;
  action: string;
  onClose: () => void;
  onDone: () => void;
}) {
  const text = useText();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.help}</p>
      <div className="flex justify-end gap-2">
        <Button variant="outline" onClick={props.onClose}>
          {text.cancel}
        </Button>
        <Button
          variant="henna"
          onClick={() => {
            props.onClose();
            props.onDone();
          }}
        >
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}
