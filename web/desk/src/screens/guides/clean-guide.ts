import type { GuideValues } from '@desk/backend/guides';

const optional = ['title_so', 'description_so', 'category_so', 'picture'] as const;

/** Returns changed values of a guide without spaces around them. An empty text that is not required is none. */
export function cleanGuide(changed: Partial<GuideValues>): Partial<GuideValues> {
  const clean = Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value]),
  ) as Partial<GuideValues>;
  for (const name of optional) if (clean[name] === '') clean[name] = null;
  return clean;
}
