import first from '@functions/submit-report/countries.json' with { type: 'json' };
import type { Language } from '@/i18n/language';

/**
 * Returns the options of the first countries as HTML when prerendering. In the browser it returns '': the page has the
 * options already, and all countries are loaded late (use-countries.ts).
 */
export function firstCountries(language: Language): string {
  if (!import.meta.env.SSR) return '';
  return first
    .map((country) => `<option value="${country.code}">+${country.code} ${country[language]}</option>`)
    .join('');
}
