import { type RefObject, useEffect, useLayoutEffect, useState } from 'react';
import { useKept } from '@/components/use-kept';
import { useLanguage } from '@/i18n/language';
import { loadOnce } from '@/lib/load-once';
import { firstCountries } from './country-options';
import { somalia } from './report';

const loadCountries = loadOnce(() => import('./countries'));
type Countries = Awaited<ReturnType<typeof loadCountries>>;

function prerenderedOptions() {
  return typeof document === 'undefined'
    ? ''
    : (document.querySelector('select[name=country]')?.innerHTML ?? '');
}

/** Reports whether the reader edits a text before its end. A new value would move the cursor to the end. */
function isCursorInside(input: HTMLInputElement) {
  return document.activeElement === input && input.selectionStart !== input.value.length;
}

/** The list of countries beside a number, and the chosen country. */
export function useCountries(
  select: RefObject<HTMLSelectElement | null>,
  number: RefObject<HTMLInputElement | null>,
) {
  const language = useLanguage();
  const [code, setCode] = useState(somalia.code);
  const [late, setLate] = useState<Countries>();
  /** The options of the prerendered page. */
  const first = useKept('report-countries', prerenderedOptions);
  const known = late?.countries ?? [somalia];
  const country = known.find((each) => each.code === code);
  const options = late
    ? late.countryOptions(language)
    : first || firstCountries(language) || '<option value="252">+252</option>';

  function loadAll() {
    loadCountries().then(setLate, () => {}); // the first countries stay
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: for a country or a number from before hydration
  useEffect(() => {
    if (!select.current) return;
    choose(select.current.value);
    const touched = [select.current, number.current].includes(document.activeElement as HTMLInputElement);
    if (!first || touched || number.current?.value) loadAll();
  }, []);

  // New options lose the choice. The number may be waiting for its country; leaving the field formats it at the latest.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the list arrives
  useLayoutEffect(() => {
    if (!late) return;
    if (select.current) select.current.value = code;
    if (number.current && !isCursorInside(number.current)) format(number.current);
  }, [late]);

  function choose(chosen: string) {
    setCode(chosen);
    if (chosen !== somalia.code) loadAll();
  }

  /** Formats a number by its country, and moves the calling code of an international number to the list. */
  function format(input: HTMLInputElement) {
    if (!late || !select.current) return;
    if (!late.isInternational(input.value)) {
      if (country) input.value = late.formatPhone(input.value, country);
      return;
    }
    const split = late.splitInternational(input.value, late.countries);
    if (!split) return;
    select.current.value = split.country.code;
    choose(split.country.code);
    input.value = late.formatPhone(split.rest, split.country);
  }

  const flag = country && (late ? late.hasFlag(country) : country === somalia);
  return { country, flag, options, loadAll, choose, format };
}
