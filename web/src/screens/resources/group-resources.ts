import type { Resource } from '@/backend/resources';
import { type Language, languages } from '@/i18n/language';

/** One card: the same content as one file per language, or one file. */
export interface ResourceGroup {
  /** The slug of the guide, if the resources have one. */
  slug?: string;
  /** The page's own language first. A file without a language is alone. */
  files: readonly ResourceFile[];
}

export interface ResourceFile {
  resource: Resource;
  language?: Language;
}

/** Returns one group per guide, in the order in which the resources begin. */
export function groupResources(resources: readonly Resource[], own: Language): ResourceGroup[] {
  const groups = new Map<string, { slug?: string; files: ResourceFile[] }>();
  for (const resource of resources) {
    const { slug, language } = guideOf(resource);
    const key = slug && language ? slug : resource.id;
    const group = groups.get(key) ?? { slug: language && slug, files: [] };
    group.files.push({ resource, language });
    groups.set(key, group);
  }
  return [...groups.values()].map(({ slug, files }) => ({
    slug,
    files: files.sort((a, b) => Number(b.language === own) - Number(a.language === own)),
  }));
}

/**
 * Returns the guide and the language of a resource. A kept or imported list of an older form has them
 * in the name of the file alone: <slug>.<language>.<extension>.
 */
function guideOf({ guide, file_language, file_url }: Resource): { slug?: string; language?: Language } {
  if (guide || file_language) return { slug: guide ?? undefined, language: file_language ?? undefined };
  const [, slug, code] = /([\w-]+)\.([a-z]{2})\.\w+$/.exec(file_url) ?? [];
  return { slug, language: languages.find((each) => each === code) };
}

/** Returns the groups by the category of their first file, in the order in which the categories begin. */
export function byTopic(groups: readonly ResourceGroup[]): Map<string, ResourceGroup[]> {
  const topics = new Map<string, ResourceGroup[]>();
  for (const group of groups) {
    const topic = group.files[0]?.resource.category ?? '';
    topics.set(topic, [...(topics.get(topic) ?? []), group]);
  }
  return topics;
}
