import { operate, type SystemState } from '@desk/backend/system';
import { Panel } from '@desk/components/panel';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { sizesOf } from './state';

/** The versions of the program and the database, and what they store. */
export function Sizes({ state }: { state: SystemState }) {
  const text = useText();
  const version = useLoad(() => operate<string>('version'), 'version');
  const lines = sizesOf(state, version.data, text);
  return (
    <Panel title={text.system.sizes}>
      <dl className="gap-x-10 text-sm sm:columns-2">
        {lines.map(([name, value]) => (
          <div key={name} className="flex break-inside-avoid justify-between gap-4 border-b py-1">
            <dt className="text-muted-foreground">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
