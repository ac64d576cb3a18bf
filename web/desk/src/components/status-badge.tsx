import { useText } from '@desk/i18n/language';
import type { Status } from '@desk/lib/status';
import { cn } from '@/components/cn';

const tones: Record<Status, string> = {
  new: 'bg-new-soft text-new',
  reviewing: 'bg-sun-soft text-sun-ink',
  actioned: 'bg-done-soft text-done',
  closed: 'bg-muted text-muted-foreground',
};

export function StatusBadge({ status }: { status: Status }) {
  const text = useText();
  return (
    <span
      className={cn(
        'inline-block rounded px-1.5 py-0.5 text-xs font-semibold whitespace-nowrap',
        tones[status],
      )}
    >
      {text.status[status]}
    </span>
  );
}
