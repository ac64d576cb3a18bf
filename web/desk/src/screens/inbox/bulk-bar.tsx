import type { Row } from '@desk/backend/reports';
import { useChanges } from '@desk/cases/changes';
import { StaffOptions } from '@desk/cases/staff-options';
import { Button } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { type Status, statuses } from '@desk/lib/status';
import { useAccess } from '@desk/session/access';
import { useStaff } from '@desk/session/staff-names';
import { useState } from 'react';
import { NativeSelect } from '@/components/ui/input';
import { ExportCases } from './export-cases';

/** The choice of no member yet; '' is the choice of none. */
const unchosen = '?';

/** Sets the status or the member of all checked reports. */
export function BulkBar({ rows, onDone }: { rows: Row[]; onDone: () => void }) {
  const text = useText();
  const staff = useStaff();
  const { change } = useChanges();
  const { role } = useAccess();
  const [status, setStatus] = useState<Status | ''>('');
  const [member, setMember] = useState(unchosen);
  const apply = () => {
    const set = { ...(status && { status }), ...(member !== unchosen && { assigned_to: member || null }) };
    const done = status && member === unchosen ? text.report.changed(text.status[status]) : text.saved;
    return change(rows, set, done).then(onDone);
  };
  const look = 'w-auto! min-w-32 pointer-fine:min-h-9! py-1!';
  return (
    <fieldset className="bg-primary-soft flex flex-wrap items-center gap-2 border-b p-2">
      <legend className="sr-only">{text.inbox.bulk}</legend>
      <span className="text-sm font-semibold">{text.inbox.checked(rows.length)}</span>
      <NativeSelect
        aria-label={text.report.statusLabel}
        className={look}
        value={status}
        onChange={(e) => setStatus(e.target.value as Status | '')}
      >
        <option value="">{text.report.statusLabel}</option>
        {statuses.map((each) => (
          <option key={each} value={each}>
            {text.status[each]}
          </option>
        ))}
      </NativeSelect>
      <NativeSelect
        aria-label={text.report.assignee}
        className={look}
        value={member}
        onChange={(e) => setMember(e.target.value)}
      >
        <option value={unchosen}>{text.report.assignee}</option>
        <StaffOptions staff={staff} />
      </NativeSelect>
      <Button disabled={!status && member === unchosen} onClick={apply}>
        {text.inbox.apply}
      </Button>
      {role === 'owner' && <ExportCases rows={rows} />}
      <Button variant="ghost" className="ms-auto" onClick={onDone}>
        {text.inbox.uncheck}
      </Button>
    </fieldset>
  );
}
