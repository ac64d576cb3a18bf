import type { Resource } from '@/backend/resources';
import { type Language, languages } from '@/i18n/language';

/** One card: the same content as one file per language, or one file. */
export interface ResourceGroup {
  /** The slug of the guide, if the files are named <slug>.<language>.<extension>. */
  slug?: string;
  /** The page's own language first. A file without a language in its name is alone. */
  files: readonly ResourceFile[];
}

export interface ResourceFile {
  resource: Resource;
  language?: Language;
}

/** Returns the guide and the language that the name of a file states: <slug>.<language>.<extension>. */
export function nameOf({ file_url }: Pick<Resource, 'file_url'>): { slug?: string; language?: Language } {
  const [, slug, code] = /([\w-]+)\.([a-z]{2})\.\w+$/.exec(file_url) ?? [];
  const language = languages.find((each) => each === code);
  return language ? { slug, language } : {};
}

/** Returns one group per guide, in the order in which the resources begin. */
export function groupResources(resources: readonly Resource[], own: Language): ResourceGroup[] {
  const groups = new Map<string, { slug?: string; files: ResourceFile[] }>();
  for (const resource of resources) {
    const { slug, language } = nameOf(resource);
    const key = slug ?? resource.id;
    const group = groups.get(key) ?? { slug, files: [] };
    group.files.push({ resource, language });
    groups.set(key, group);
  }
  return [...groups.values()].map(({ slug, files }) => ({
    slug,
    files: files.sort((a, b) => Number(b.language === own) - Number(a.language === own)),
  }));
}
