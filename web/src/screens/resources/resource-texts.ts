import type { Resource } from '@/backend/resources';
import type { Language } from '@/i18n/language';

/**
 * Returns the texts of a card in the page's language, or in English with a lang attribute if there is no translation.
 */
export function textsOf(
  resource: Pick<
    Resource,
    'title' | 'title_so' | 'description' | 'description_so' | 'category' | 'category_so'
  >,
  language: Language,
) {
  const pick = (english: string, somali: string | null) => {
    if (language === 'so' && somali) return { text: somali };
    return { text: english, lang: language === 'so' ? 'en' : undefined };
  };
  return {
    title: pick(resource.title, resource.title_so),
    description: pick(resource.description, resource.description_so),
    category: pick(resource.category, resource.category_so),
  };
}
