import { useId } from 'react';
import type { Resource } from '@/backend/resources';
import { NativeSelect } from '@/components/ui/input';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { choicesOf, type Filter, type FilterName } from './filter-resources';

interface ResourceFilterProps {
  resources: readonly Resource[];
  filter: Filter;
  onChange: (filter: Filter) => void;
}

/** Lists of the topics, languages and types of the resources. */
export function ResourceFilter({ resources, filter, onChange }: ResourceFilterProps) {
  const { filters } = useText('resources');
  const own = useLanguage();
  const id = useId();
  const lists = (['topic', 'language', 'type'] as const satisfies readonly FilterName[])
    .map((name) => ({ name, choices: choicesOf(name, resources, own) }))
    .filter(({ choices }) => choices.length > 1);
  if (lists.length === 0) return null;

  return (
    <fieldset className="flex flex-wrap gap-4">
      <legend className="sr-only">{filters.title}</legend>
      {lists.map(({ name, choices }) => (
        <div key={name} className="min-w-0 flex-1 basis-40 sm:max-w-64">
          <label htmlFor={`${id}-${name}`} className="mb-1 block text-sm font-semibold">
            {filters[name]}
          </label>
          <NativeSelect
            id={`${id}-${name}`}
            value={filter[name]}
            onChange={({ target }) => onChange({ ...filter, [name]: target.value })}
          >
            <option value="">{filters.all}</option>
            {choices.map(({ value, name, lang }) => (
              <option key={value} value={value} lang={lang}>
                {name}
              </option>
            ))}
          </NativeSelect>
        </div>
      ))}
    </fieldset>
  );
}
