import type { Row } from '@desk/backend/reports';
import { useChanges } from '@desk/cases/changes';
import { StaffOptions } from '@desk/cases/staff-options';
import { Button } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { type Status, statuses } from '@desk/lib/status';
import { useAccess } from '@desk/session/access';
import { useStaff } from '@desk/session/staff-names';
import { NativeSelect } from '@/components/ui/input';
import { ExportCases } from './export-cases';

/** Sets the status or the member of all checked reports. */
export function BulkBar({ rows, onDone }: { rows: Row[]; onDone: () => void }) {
  const text = useText();
  const staff = useStaff();
  const { change } = useChanges();
  const { role } = useAccess();
  const look = 'w-auto! min-w-32 pointer-fine:min-h-9! py-1!';
  return (
    <fieldset className="bg-primary-soft flex flex-wrap items-center gap-2 border-b p-2">
      <legend className="sr-only">{text.inbox.bulk}</legend>
      <span className="text-sm font-semibold">{text.inbox.checked(rows.length)}</span>
      <NativeSelect
        aria-label={text.report.statusLabel}
        className={look}
        value=""
        onChange={(e) => {
          const status = e.target.value as Status;
          void change(rows, { status }, text.report.changed(text.status[status])).then(onDone);
        }}
      >
        <option value="" disabled>
          {text.report.statusLabel}
        </option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {text.status[status]}
          </option>
        ))}
      </NativeSelect>
      <NativeSelect
        aria-label={text.report.assignee}
        className={look}
        value="?"
        onChange={(e) => void change(rows, { assigned_to: e.target.value || null }, text.saved).then(onDone)}
      >
        <option value="?" disabled>
          {text.report.assignee}
        </option>
        <StaffOptions staff={staff} />
      </NativeSelect>
      {role === 'owner' && <ExportCases rows={rows} />}
      <Button variant="ghost" className="ms-auto" onClick={onDone}>
        {text.inbox.uncheck}
      </Button>
    </fieldset>
  );
}
