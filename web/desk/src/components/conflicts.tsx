import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import type { Text } from '@desk/i18n/en';
import { useText } from '@desk/i18n/language';

type Value = string | number | boolean | null;

interface Props<Field extends keyof Text['trail']['fields']> {
  both: Field[];
  mine: Record<Field, Value>;
  theirs: Record<Field, Value>;
  settle: (field: Field, take: boolean) => void;
}

/** The fields that a colleague has changed as well, with both values. */
export function Conflicts<Field extends keyof Text['trail']['fields']>({
  both,
  mine,
  theirs,
  settle,
}: Props<Field>) {
  const text = useText();
  if (both.length === 0) return null;
  const shown = (value: Value) =>
    typeof value === 'boolean' ? (value ? text.trail.values.yes : text.trail.values.no) : (value ?? '–');
  return (
    <Panel title={text.resources.conflict} className="bg-sun-soft text-sun-ink">
      <ul role="alert" className="flex flex-col gap-3">
        {both.map((field) => (
          <li key={field} className="flex flex-col gap-1">
            <p className="font-semibold">{text.trail.fields[field]}</p>
            <dl className="grid grid-cols-[auto_1fr] gap-x-3">
              <dt>{text.conflict.theirs}</dt>
              <dd className="wrap-anywhere">{shown(theirs[field])}</dd>
              <dt>{text.conflict.mine}</dt>
              <dd className="wrap-anywhere">{shown(mine[field])}</dd>
            </dl>
            <div className="flex flex-wrap gap-2">
              <Button variant="outline" onClick={() => settle(field, true)}>
                {text.conflict.take}
              </Button>
              <Button variant="outline" onClick={() => settle(field, false)}>
                {text.conflict.insist}
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
