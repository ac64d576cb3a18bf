import { seriousnessWord } from '@desk/cases/state-word';
import type { Case } from '@desk/cases/use-case';
import { Button } from '@desk/components/button';
import { Checkbox } from '@desk/components/checkbox';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { type Criterion, criteria } from '@desk/lib/case';

/** Whether the case is serious: one criterion is enough. */
export function Assessment({ report, change }: Case) {
  const text = useText();
  const value = report.seriousness;
  const set = (seriousness: Criterion[] | null) => change({ seriousness }, text.saved);
  return (
    <Panel title={text.seriousness.title}>
      <p className="text-muted-foreground mb-2 text-sm">
        {value && value.length > 0 ? text.seriousness.serious : seriousnessWord(value, text)}
      </p>
      <fieldset className="grid gap-x-4 sm:grid-cols-2">
        <legend className="sr-only">{text.seriousness.help}</legend>
        {criteria.map((criterion) => (
          <Checkbox
            key={criterion}
            label={text.seriousness.criteria[criterion]}
            checked={value?.includes(criterion) ?? false}
            onChange={(on) => set(criteria.filter((c) => (c === criterion ? on : value?.includes(c))))}
          />
        ))}
      </fieldset>
      <div className="no-print mt-2 flex flex-wrap gap-2">
        <Button
          variant={value?.length === 0 ? 'default' : 'outline'}
          aria-pressed={value?.length === 0}
          onClick={() => set([])}
        >
          {text.seriousness.not}
        </Button>
        <Button variant={value ? 'outline' : 'default'} aria-pressed={!value} onClick={() => set(null)}>
          {text.seriousness.none}
        </Button>
      </div>
    </Panel>
  );
}
