import { cn } from '@/components/cn';

interface Props {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  className?: string;
}

/** A checkbox before its label. */
export function Checkbox({ label, checked, onChange, className }: Props) {
  return (
    <label className={cn('flex min-h-9 items-center gap-2', className)}>
      <input
        type="checkbox"
        className="accent-primary size-5 shrink-0"
        checked={checked}
        onChange={(e) => onChange(e.target.checked)}
      />
      {label}
    </label>
  );
}
