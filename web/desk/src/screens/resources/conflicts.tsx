import type { Values } from '@desk/backend/resources';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import type { Field } from './merge';

interface Props {
  both: Field[];
  mine: Values;
  theirs: Values;
  settle: (field: Field, take: boolean) => void;
}

/** The fields that a colleague has changed as well, with both values. */
export function Conflicts({ both, mine, theirs, settle }: Props) {
  const text = useText();
  if (both.length === 0) return null;
  const shown = (value: Values[Field]) =>
    typeof value === 'boolean' ? (value ? text.trail.values.yes : text.trail.values.no) : (value ?? '–');
  return (
    <Panel title={text.resources.conflict} className="bg-sun-soft text-sun-ink mb-4">
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
