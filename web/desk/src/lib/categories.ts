/** The categories of resources in both languages. The site shows one heading for each. */
export const categories = [
  { en: 'Safety', so: 'Badbaado' },
  { en: 'Medicine', so: 'Daawo' },
  { en: "Women's Health", so: 'Caafimaadka Haweenka' },
  { en: 'Children', so: 'Carruurta' },
  { en: 'Other', so: 'Kuwa kale' },
] as const;
