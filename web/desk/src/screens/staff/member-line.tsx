import { type Role, roles, sendLink } from '@desk/backend/session';
import { endSessions, invitationLink, type Member, removeFactors, setRole } from '@desk/backend/staff';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { ConfirmDialog } from '@desk/components/confirm-dialog';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { useState } from 'react';
import { NativeSelect } from '@/components/ui/input';
import { LinkDialog } from './link-dialog';

interface Props {
  member: Member;
  onDone: () => void;
}

/** A member, with what an owner can do about the account. */
export function MemberLine({ member, onDone }: Props) {
  const { text, language } = useLanguage();
  const { id: me } = useAccess();
  const [asking, ask] = useState<'unlock' | 'remove' | Role>();
  const [link, setLink] = useState<string>();
  const close = () => ask(undefined);
  const act = (action: () => Promise<unknown>, done: string) => attempt(text, action, done).then(onDone);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3 py-2">
      <div className="min-w-48 flex-1">
        <p className="font-semibold">
          {member.name}{' '}
          {member.id === me && <span className="text-muted-foreground font-normal">({text.you})</span>}
          {!member.last_sign_in_at && (
            <span className="bg-sun-soft text-sun-ink rounded px-1.5 py-0.5 text-xs">
              {text.staff.pending}
            </span>
          )}
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
          onChange={(e) => ask(e.target.value as Role)}
        >
          {roles.map((role) => (
            <option key={role} value={role}>
              {text.roles[role]}
            </option>
          ))}
        </NativeSelect>
        {!member.last_sign_in_at && member.email && (
          <Button
            variant="outline"
            aria-label={`${text.staff.again}: ${member.name}`}
            onClick={() => act(() => sendLink(member.email ?? ''), text.staff.sent(member.email ?? ''))}
          >
            {text.staff.again}
          </Button>
        )}
        {!member.last_sign_in_at && member.email && (
          <Button
            variant="outline"
            aria-label={`${text.staff.copyLink}: ${member.name}`}
            onClick={() => attempt(text, () => invitationLink(member.email ?? '', member.role)).then(setLink)}
          >
            {text.staff.copyLink}
          </Button>
        )}
        <Button
          variant="outline"
          aria-label={`${text.staff.end}: ${member.name}`}
          onClick={() => act(() => endSessions(member.id), text.system.done)}
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
      {asking && asking !== 'unlock' && asking !== 'remove' && (
        <ConfirmDialog
          title={text.staff.changeTitle(member.name, text.roles[member.role], text.roles[asking])}
          help={text.staff.roleHelp}
          action={text.staff.change}
          onClose={close}
          onConfirm={() => {
            close();
            void act(() => setRole(member.id, asking), text.staff.changed(member.name));
          }}
        />
      )}
      {asking === 'unlock' && (
        <ConfirmDialog
          title={text.staff.unlockTitle(member.name)}
          help={text.staff.unlockHelp}
          action={text.staff.unlock}
          onClose={close}
          onConfirm={() => {
            close();
            void act(() => removeFactors(member.id), text.staff.unlocked(member.name));
          }}
        />
      )}
      {asking === 'remove' && (
        <ConfirmDialog
          title={text.staff.removeTitle(member.name)}
          help={text.staff.removeHelp}
          action={text.staff.remove}
          onClose={close}
          onConfirm={() => {
            close();
            void act(() => setRole(member.id, null), text.staff.removed(member.name));
          }}
        />
      )}
      {link && <LinkDialog name={member.name} link={link} onClose={() => setLink(undefined)} />}
    </li>
  );
}
