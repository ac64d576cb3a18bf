import { ChevronDown } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Field } from '@/components/field';
import { selectLook } from '@/components/ui/input';
import { fullStyles } from '@/lib/full-styles';
import { inTime, partTimeout } from '@/lib/in-time';
import type { PlaceSelectProps } from './place-select';

interface LateSelectProps extends Omit<PlaceSelectProps, 'defaultOpen'> {
  /** Called when the list was opened and could not be loaded. */
  onMissing: () => void;
}

interface PlaceFieldProps
  extends Pick<LateSelectProps, 'region' | 'value' | 'placeholder' | 'onChange' | 'onMissing'> {
  name: string;
  label: ReactNode;
  hint?: string;
  error?: string;
  required?: boolean;
}

export function PlaceField({ name, label, hint, error, required, ...rest }: PlaceFieldProps) {
  return (
    <Field name={name} label={label} hint={hint} error={error} required={required}>
      {({ name: _inLocation, required: needed, ...control }) => (
        <LateSelect {...control} aria-required={needed} {...rest} />
      )}
    </Field>
  );
}

type PlaceSelect = typeof import('./place-select').PlaceSelect;

async function loadSelect() {
  const parts = Promise.all([import('./place-select'), fullStyles()]);
  const [{ PlaceSelect }] = await inTime(parts, partTimeout, 'The import of places');
  return PlaceSelect;
}

/** A button that looks like the closed Radix Select, until that and its list of places (30 kB) are loaded. */
function LateSelect({ onMissing, ...props }: LateSelectProps) {
  const [loaded, setLoaded] = useState<{ Select: PlaceSelect; open: boolean; focused?: boolean }>();
  const { region: _region, value, placeholder, onChange: _onChange, ...control } = props;

  // The Somali name of a chosen place, such as from a restored draft, is in the late part.
  useEffect(() => {
    if (!value) return;
    loadSelect().then(
      (Select) => {
        const focused = document.activeElement?.id === control.id;
        setLoaded((before) => before ?? { Select, open: false, focused });
      },
      () => {}, // the English name stays
    );
  }, [value, control.id]);

  if (loaded) return <loaded.Select {...props} defaultOpen={loaded.open} autoFocus={loaded.focused} />;

  const open = () => void loadSelect().then((Select) => setLoaded({ Select, open: true }), onMissing);
  return (
    <button
      {...control}
      type="button"
      role="combobox"
      aria-expanded={false}
      aria-haspopup="listbox"
      aria-controls={`${control.id}-list`}
      className={selectLook}
      onClick={open}
      onPointerEnter={() => void loadSelect().catch(() => {})}
      onFocus={() => void loadSelect().catch(() => {})}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        event.preventDefault();
        open();
      }}
    >
      <span className={value ? undefined : 'text-muted-foreground'}>{value || placeholder}</span>
      <ChevronDown aria-hidden className="text-muted-foreground size-5 shrink-0" />
    </button>
  );
}
