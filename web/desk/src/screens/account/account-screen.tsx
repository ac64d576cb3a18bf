import { signOut } from '@desk/backend/session';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { ScreenHead } from '@desk/components/screen-head';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { ChangeName } from './change-name';
import { ChangePassword } from './change-password';
import { Factors } from './factors';

/** The person's own account. */
export default function AccountScreen() {
  const { text, language } = useLanguage();
  const access = useAccess();
  return (
    <div className="flex max-w-xl flex-col gap-4">
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
        <ChangeName />
      </Panel>
      <Factors />
      <ChangePassword />
      <Panel title={text.account.everywhere}>
        <p className="text-muted-foreground mb-3">{text.account.everywhereHelp}</p>
        <Button variant="outline" onClick={() => attempt(text, () => signOut('global'))}>
          {text.account.everywhere}
        </Button>
      </Panel>
    </div>
  );
}
