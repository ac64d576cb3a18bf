import type { TrailFilter } from '@desk/backend/trail';
import { dense, Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { Input, NativeSelect } from '@/components/ui/input';

interface Props {
  filter: TrailFilter;
  onChange: (filter: TrailFilter) => void;
}

export function Filters({ filter, onChange }: Props) {
  const text = useText();
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <Field label={text.trail.who}>
        {(props) => (
          <Input
            {...props}
            className={dense}
            value={filter.name ?? ''}
            onChange={(e) => onChange({ ...filter, name: e.target.value || undefined })}
          />
        )}
      </Field>
      <Field label={text.trail.action}>
        {(props) => (
          <NativeSelect
            {...props}
            className={dense}
            value={filter.action ?? ''}
            onChange={(e) => onChange({ ...filter, action: e.target.value || undefined })}
          >
            <option value="">{text.all}</option>
            {Object.entries(text.trail.actions).map(([key, name]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <Field label={text.trail.subject}>
        {(props) => (
          <NativeSelect
            {...props}
            className={dense}
            value={filter.subject ?? ''}
            onChange={(e) => onChange({ ...filter, subject: e.target.value || undefined })}
          >
            <option value="">{text.all}</option>
            {Object.entries(text.trail.subjects).map(([key, name]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
    </div>
  );
}
