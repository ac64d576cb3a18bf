import { StaffOptions } from '@desk/cases/staff-options';
import type { Case } from '@desk/cases/use-case';
import { dense, Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { type Priority, priorities } from '@desk/lib/case';
import { type Status, statuses } from '@desk/lib/status';
import { useStaff } from '@desk/session/staff-names';
import { cn } from '@/components/cn';
import { Input, NativeSelect } from '@/components/ui/input';

/** The status of a report, the member who works on it, its priority and its due date. */
export function Triage({ report, change }: Case) {
  const text = useText();
  const staff = useStaff();
  return (
    <div className="no-print bg-card grid grid-cols-2 gap-3 rounded-lg border p-3 sm:grid-cols-[2fr_1fr_1fr]">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a border and need a legend */}
      <div
        role="group"
        aria-label={text.report.statusLabel}
        className="col-span-full flex flex-wrap gap-1 max-sm:grid max-sm:grid-cols-2"
      >
        {statuses.map((status, i) => (
          <StatusButton
            key={status}
            status={status}
            number={i + 1}
            pressed={report.status === status}
            onClick={() => change({ status }, text.report.changed(text.status[status]))}
          />
        ))}
      </div>
      <Field label={text.report.assignee} className="max-sm:col-span-2">
        {(props) => (
          <NativeSelect
            {...props}
            className={dense}
            value={report.assigned_to ?? ''}
            onChange={(e) => change({ assigned_to: e.target.value || null }, text.saved)}
          >
            <StaffOptions staff={staff} />
          </NativeSelect>
        )}
      </Field>
      <Field label={text.report.priority}>
        {(props) => (
          <NativeSelect
            {...props}
            className={dense}
            value={report.priority}
            onChange={(e) => change({ priority: e.target.value as Priority }, text.saved)}
          >
            {priorities.map((priority) => (
              <option key={priority} value={priority}>
                {text.priority[priority]}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <Field label={text.report.due}>
        {(props) => (
          <Input
            {...props}
            key={report.due_on}
            type="date"
            className={dense}
            defaultValue={report.due_on ?? ''}
            onBlur={(e) => {
              const day = e.target.value || null;
              if (day !== report.due_on) change({ due_on: day }, text.saved);
            }}
          />
        )}
      </Field>
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
