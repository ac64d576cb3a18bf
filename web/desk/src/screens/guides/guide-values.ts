import type { Guide, GuideValues } from '@desk/backend/guides';
import type { Language } from '@/i18n/language';

/** Returns the title of a guide in a language: English where Somali is missing. */
export const titleIn = (language: Language, { title, title_so }: Pick<Guide, 'title' | 'title_so'>) =>
  language === 'so' ? (title_so ?? title) : title;

const optional: readonly string[] = ['title_so', 'description_so', 'category_so', 'picture'];

/** Returns the values of a guide that an editor gives. */
export const guideValues = (guide: Guide): GuideValues => ({
  title: guide.title,
  title_so: guide.title_so,
  description: guide.description,
  description_so: guide.description_so,
  category: guide.category,
  category_so: guide.category_so,
  picture: guide.picture,
  position: guide.position,
  is_featured: guide.is_featured,
});

/**
 * Returns the values that differ from those of the guide, without spaces around them. An empty text that is not
 * required is none.
 */
export function changesOf(guide: GuideValues, values: GuideValues): Partial<GuideValues> {
  const changed = Object.entries(values).filter(
    ([name, value]) => value !== guide[name as keyof GuideValues],
  );
  return Object.fromEntries(
    changed.map(([name, value]) => {
      const clean = typeof value === 'string' ? value.trim() : value;
      return [name, clean === '' && optional.includes(name) ? null : clean];
    }),
  );
}
