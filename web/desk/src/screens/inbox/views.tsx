import type { Filter } from '@desk/backend/reports';
import { useText } from '@desk/i18n/language';
import { cn } from '@/components/cn';

/** The marks that make a view. Each can be on beside the others. */
const views = ['unassigned', 'mine', 'overdue', 'serious'] as const;

interface Props {
  filter: Filter;
  onChange: (filter: Filter) => void;
}

/** The views that a pharmacist opens most: unassigned reports, own ones, late ones, serious ones. */
export function Views({ filter, onChange }: Props) {
  const text = useText();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a border and need a legend
    <div role="group" aria-label={text.inbox.viewsLabel} className="flex flex-wrap gap-1">
      {views.map((name) => (
        <View
          key={name}
          label={text.inbox.views[name]}
          pressed={filter[name] === true}
          onClick={() => onChange({ ...filter, [name]: filter[name] ? undefined : true })}
        />
      ))}
      <View
        label={text.inbox.oldest}
        pressed={filter.order === 'oldest'}
        onClick={() => onChange({ ...filter, order: filter.order ? undefined : 'oldest' })}
      />
    </div>
  );
}

function View({ label, pressed, onClick }: { label: string; pressed: boolean; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onClick}
      className={cn(
        'min-h-9 cursor-pointer rounded-full border px-2.5 text-xs pointer-fine:min-h-[24px]',
        pressed ? 'bg-primary-soft border-primary font-semibold' : 'border-input hover:bg-muted',
      )}
    >
      {label}
    </button>
  );
}
