import { type RefObject, useEffect, useLayoutEffect, useState } from 'react';
import { useKept } from '@/components/use-kept';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { loadOnce } from '@/lib/load-once';
import { formatPhone, somalia, splitInternational } from './countries';
import { firstCountries } from './country-options';

const loadCountries = loadOnce(() => import('@/content/countries'));
type Countries = Awaited<ReturnType<typeof loadCountries>>;

function prerenderedOptions() {
  return typeof document === 'undefined'
    ? ''
    : (document.querySelector('select[name=country]')?.innerHTML ?? '');
}

/** The list of countries beside a number, and the chosen country. */
export function useCountries(
  select: RefObject<HTMLSelectElement | null>,
  number: RefObject<HTMLInputElement | null>,
) {
  const text = useText('report');
  const language = useLanguage();
  const [code, setCode] = useState(somalia.code);
  const [late, setLate] = useState<Countries>();
  /** The options of the prerendered page. */
  const first = useKept('report-countries', prerenderedOptions);
  const known = late?.countries ?? [somalia];
  const country = known.find((each) => each.code === code);
  const options = late
    ? late.countryOptions(language)
    : first || firstCountries(language) || `<option value="252">+252 ${text.somalia}</option>`;

  function loadAll() {
    loadCountries().then(setLate, () => {}); // the first countries stay
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: for a country chosen before hydration
  useEffect(() => {
    if (!select.current) return;
    choose(select.current.value);
    if (!first) loadAll();
  }, []);

  // New options lose the choice. The number may be waiting for its country.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the list arrives
  useLayoutEffect(() => {
    if (!late) return;
    if (select.current) select.current.value = code;
    if (number.current) takeInternational(number.current, late.countries);
  }, [late]);

  function choose(chosen: string) {
    setCode(chosen);
    if (chosen !== somalia.code) loadAll();
  }

  /** Moves the calling code of an international number to the list. Returns false if there is none. */
  function takeInternational(input: HTMLInputElement, countries = known) {
    const split = splitInternational(input.value, countries);
    if (!split || !select.current) return false;
    select.current.value = split.country.code;
    choose(split.country.code);
    input.value = formatPhone(split.rest, split.country);
    return true;
  }

  const flag = country && (late ? late.hasFlag(country) : country === somalia);
  return { country, flag, options, loadAll, choose, takeInternational };
}
