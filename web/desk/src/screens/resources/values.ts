import type { Resource, Values } from '@desk/backend/resources';
import type { Language } from '@/i18n/language';

/** The address of a resource whose file is still to come. */
const noFile = '#';

const empty: Values = {
  title: '',
  title_so: null,
  description: '',
  description_so: null,
  category: '',
  category_so: null,
  icon_name: 'FileText',
  color_class: 'bg-teal-700',
  file_url: noFile,
  file_size: 0,
  file_type: 'application/pdf',
  preview_url: null,
  is_active: false,
  is_featured: false,
  guide: null,
  file_language: null,
};

/** Returns the values of a resource, or of a new one, without those that the database gives. */
export function valuesOf(resource: Resource | undefined): Values {
  const names = Object.keys(empty) as (keyof Values)[];
  return Object.fromEntries(names.map((name) => [name, (resource ?? empty)[name]])) as unknown as Values;
}

export const hasFile = ({ file_url }: Pick<Values, 'file_url'>) => file_url !== noFile;

/** Reports whether a resource has what it needs to be saved. */
export const isComplete = ({ title, category }: Values) => Boolean(title.trim() && category.trim());

/** Returns the values as the database wants them: empty optional texts are null. */
export function cleanValues(values: Values): Values {
  const orNull = (s: string | null) => s?.trim() || null;
  return {
    ...values,
    title: values.title.trim(),
    category: values.category.trim(),
    description: values.description.trim(),
    title_so: orNull(values.title_so),
    description_so: orNull(values.description_so),
    category_so: orNull(values.category_so),
    guide: orNull(values.guide?.replace(/^-+|-+$|-(?=-)/g, '') ?? null),
  };
}

export type TextValues = Pick<
  Values,
  'title' | 'title_so' | 'description' | 'description_so' | 'category' | 'category_so'
>;

/** The names of the texts in each language. */
export const textNames = {
  en: { title: 'title', description: 'description', category: 'category' },
  so: { title: 'title_so', description: 'description_so', category: 'category_so' },
} as const;

/** Returns the texts as visitors read them: English where Somali is missing. */
export function textsIn(language: Language, values: TextValues) {
  const pick = (english: string, somali: string | null) =>
    language === 'so' && somali?.trim() ? somali : english;
  return {
    title: pick(values.title, values.title_so),
    description: pick(values.description, values.description_so),
    category: pick(values.category, values.category_so),
  };
}
