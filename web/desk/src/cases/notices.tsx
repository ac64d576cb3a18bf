import type { Notice } from '@desk/backend/notices';
import { Panel } from '@desk/components/panel';
import { shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useStaffNames } from '@desk/session/staff-names';

/** The notices of a report, each with its authority, its day and its member. */
export function Notices({ notices }: { notices: Notice[] }) {
  const { text, language } = useLanguage();
  const names = useStaffNames();
  if (notices.length === 0) return null;
  return (
    <Panel title={text.forward.notices} className="no-print">
      <ul className="flex flex-col gap-3">
        {notices.map((notice) => (
          <li key={notice.id} className="border-s-2 ps-3">
            <p className="text-muted-foreground text-xs">
              {shortDay(language, notice.sent_on)} · {names.get(notice.author ?? '') ?? notice.author_name}
            </p>
            <p className="wrap-anywhere">
              {notice.recipient} · {text.forward.channels[notice.channel]}
              {notice.receipt && ` · ${text.forward.receipt}: ${notice.receipt}`}
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
