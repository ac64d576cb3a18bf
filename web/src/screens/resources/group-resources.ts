import type { Resource } from '@/backend/resources';
import { type Language, languages } from '@/i18n/language';

/** One card: the same content as one file per language, or one file. */
export interface ResourceGroup {
  /** The slug of the guide, if the resources have one. */
  slug?: string;
  /** The page's own language first. A file without a language is alone. */
  files: readonly ResourceFile[];
}

/** What says to which guide a resource belongs. */
type Named = Pick<Resource, 'file_url'> & Partial<Pick<Resource, 'guide' | 'file_language'>>;

export interface ResourceFile {
  resource: Resource;
  language?: Language;
}

/**
 * Returns the guide and the language of a resource. A kept or imported list of an older form has them
 * in the name of the file alone: <slug>.<language>.<extension>.
 */
export function nameOf({ guide, file_language, file_url }: Named): { slug?: string; language?: Language } {
  if (guide || file_language) {
    return file_language ? { slug: guide ?? undefined, language: file_language } : {};
  }
  const [, slug, code] = /([\w-]+)\.([a-z]{2})\.\w+$/.exec(file_url) ?? [];
  const language = languages.find((each) => each === code);
  return language ? { slug, language } : {};
}

/** Returns the place that the staff gave to a group's guide, 0 for none. */
const placeOf = ({ files }: ResourceGroup) => files[0]?.resource.guides?.position ?? 0;

/** Returns one group per guide or file, as they come, unless the staff gave guides another order. */
export function groupResources(resources: readonly Resource[], own: Language): ResourceGroup[] {
  const groups = new Map<string, { slug?: string; files: ResourceFile[] }>();
  for (const resource of resources) {
    const { slug, language } = nameOf(resource);
    const key = slug ?? resource.id;
    const group = groups.get(key) ?? { slug, files: [] };
    group.files.push({ resource, language });
    groups.set(key, group);
  }
  return [...groups.values()]
    .map(({ slug, files }) => ({
      slug,
      files: files.sort((a, b) => Number(b.language === own) - Number(a.language === own)),
    }))
    .sort((a, b) => placeOf(a) - placeOf(b));
}
