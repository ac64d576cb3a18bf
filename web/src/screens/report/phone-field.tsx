import { type ChangeEvent, type FocusEvent, useEffect, useRef, useState } from 'react';
import { Field } from '@/components/field';
import { Input, NativeSelect } from '@/components/ui/input';
import { useHydrated } from '@/components/use-hydrated';
import { useText } from '@/i18n/text';
import { latinDigits } from './clean-text';
import { countries, formatPhone, isInternational, splitInternational } from './countries';
import { maxTypedPhone } from './report';

const [somalia] = countries;

/** A calling code and a number. Both are plain controls, so the browser posts them without JavaScript. */
export function PhoneField({ error }: { error?: string }) {
  const text = useText('report');
  const hydrated = useHydrated();
  const select = useRef<HTMLSelectElement>(null);
  const [country, setCountry] = useState(somalia);

  // biome-ignore lint/correctness/useExhaustiveDependencies: for a country chosen before hydration
  useEffect(() => {
    if (select.current) choose(select.current.value);
  }, []);

  function choose(code: string) {
    setCountry(countries.find((each) => each.code === code) ?? somalia);
  }

  /** Formats the number while it is typed, but only with the cursor at its end: elsewhere the cursor would jump. */
  function type({ target }: ChangeEvent<HTMLInputElement>) {
    const typed = latinDigits(target.value);
    if (typed !== target.value) target.value = typed; // an assignment moves the cursor
    const pasted = splitInternational(target.value);
    if (pasted && select.current) {
      select.current.value = pasted.country.code;
      choose(pasted.country.code);
      target.value = formatPhone(pasted.rest, pasted.country);
    } else if (!isInternational(target.value) && target.selectionStart === target.value.length && country) {
      target.value = formatPhone(target.value, country);
    }
  }

  function leave({ target }: FocusEvent<HTMLInputElement>) {
    if (country && !isInternational(target.value)) target.value = formatPhone(target.value, country);
  }

  return (
    <Field name="phone" label={text.phone} hint={text.phoneHint} error={error} required>
      {(control) => (
        <div className="grid gap-2 sm:grid-cols-[15rem_1fr]">
          <div className="relative">
            <img
              src={`/flags/${country?.iso}.svg`}
              alt=""
              width="24"
              height="18"
              loading="lazy"
              className="pointer-events-none absolute start-3 top-1/2 -translate-y-1/2 rounded-sm"
            />
            <NativeSelect
              ref={select}
              name="country"
              aria-label={text.country}
              autoComplete={hydrated ? 'tel-country-code' : 'off'}
              defaultValue={somalia?.code}
              onChange={({ target }) => choose(target.value)}
              className="ps-11"
            >
              {countries.map((each) => (
                <option key={each.iso} value={each.code}>
                  +{each.code} {text.countries[each.iso]}
                </option>
              ))}
            </NativeSelect>
          </div>
          <Input
            {...control}
            type="tel"
            inputMode="tel"
            autoComplete={hydrated ? 'tel-national' : 'off'}
            maxLength={maxTypedPhone}
            placeholder={country?.mask.replaceAll('.', '–')}
            onChange={type}
            onBlur={leave}
          />
        </div>
      )}
    </Field>
  );
}
