import { type Change, changeReport, type Report } from '@desk/backend/reports';
import type { Member } from '@desk/backend/staff';
import { attempt } from '@desk/components/attempt';
import { useText } from '@desk/i18n/language';
import { type Status, statuses } from '@desk/lib/status';
import { useAccess } from '@desk/session/access';
import { cn } from '@/components/cn';
import { NativeSelect } from '@/components/ui/input';

interface Props {
  report: Report;
  staff: Member[];
  onChanged: () => void;
}

/** The status of a report and the member who works on it. */
export function Triage({ report, staff, onChanged }: Props) {
  const text = useText();
  const { id: me } = useAccess();
  const set = async (change: Change, done: string) => {
    await attempt(text, () => changeReport(report.id, change), done);
    onChanged();
  };
  return (
    <div className="no-print bg-card flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border p-3">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a border and need a legend */}
      <div role="group" aria-label={text.report.statusLabel} className="flex flex-wrap gap-1">
        {statuses.map((status, i) => (
          <StatusButton
            key={status}
            status={status}
            number={i + 1}
            pressed={report.status === status}
            onClick={() => set({ status }, text.report.changed(text.status[status]))}
          />
        ))}
      </div>
      <NativeSelect
        aria-label={text.report.assignee}
        title={text.report.assignee}
        className="w-auto! min-w-36 flex-1 pointer-fine:min-h-9! py-1! sm:max-w-64"
        value={report.assigned_to ?? ''}
        onChange={(e) => set({ assigned_to: e.target.value || null }, text.saved)}
      >
        <option value="">{text.report.unassigned}</option>
        {staff
          .filter((m) => m.role !== 'editor')
          .map((m) => (
            <option key={m.id} value={m.id}>
              {m.id === me ? `${m.name} (${text.you})` : m.name}
            </option>
          ))}
      </NativeSelect>
    </div>
  );
}

interface ButtonProps {
  status: Status;
  number: number;
  pressed: boolean;
  onClick: () => void;
}

function StatusButton({ status, number, pressed, onClick }: ButtonProps) {
  const text = useText();
  return (
    <button
      type="button"
      aria-pressed={pressed}
      aria-keyshortcuts={String(number)}
      onClick={onClick}
      className={cn(
        'flex min-h-11 cursor-pointer items-center gap-2 rounded-md border px-3 text-sm pointer-fine:min-h-9',
        pressed
          ? 'bg-primary text-primary-foreground border-primary font-semibold'
          : 'border-input hover:bg-muted',
      )}
    >
      <span aria-hidden="true" className={cn('font-mono text-xs', !pressed && 'text-muted-foreground')}>
        {number}
      </span>
      {text.status[status]}
    </button>
  );
}
