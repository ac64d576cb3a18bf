import type { Resource } from '@/backend/resources';
import { type Language, languageNames } from '@/i18n/language';
import { fileTypeLabel } from '@/lib/file-type';
import { nameOf } from './group-resources';

/** What a reader narrows the list to; '' takes all. The page without scripts has the same names (functions/resource-list). */
export interface Filter {
  topic: string;
  language: string;
  type: string;
}

export type FilterName = keyof Filter;

export const noFilter: Filter = { topic: '', language: '', type: '' };

export interface Choice {
  value: string;
  name: string;
  /** Language of the name, if it is not the page's. */
  lang?: Language;
}

/** Returns what a resource counts as under each name of the filter. */
function facets(resource: Resource): Record<FilterName, string> {
  return {
    topic: resource.category,
    language: nameOf(resource).language ?? '',
    type: fileTypeLabel(resource.file_type),
  };
}

export function filterResources(resources: readonly Resource[], filter: Filter): Resource[] {
  return resources.filter((resource) => {
    const found = facets(resource);
    return (Object.keys(filter) as FilterName[]).every(
      (name) => !filter[name] || filter[name] === found[name],
    );
  });
}

/** Returns the choices of a list in the order in which the resources begin. A list with fewer than two is useless. */
export function choicesOf(name: FilterName, resources: readonly Resource[], own: Language): Choice[] {
  const choices = new Map<string, Choice>();
  for (const resource of resources) {
    const value = facets(resource)[name];
    if (value && !choices.has(value)) choices.set(value, choice(name, value, resource, own));
  }
  return [...choices.values()];
}

function choice(name: FilterName, value: string, resource: Resource, own: Language): Choice {
  if (name === 'language') return { value, name: languageNames[value as Language], lang: value as Language };
  if (name === 'type' || own === 'en') return { value, name: value };
  return resource.category_so ? { value, name: resource.category_so } : { value, name: value, lang: 'en' };
}
