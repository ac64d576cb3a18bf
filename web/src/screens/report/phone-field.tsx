import { type ChangeEvent, useRef } from 'react';
import { Field } from '@/components/field';
import { Input, NativeSelect } from '@/components/ui/input';
import { useHydrated } from '@/components/use-hydrated';
import { useText } from '@/i18n/text';
import { latinDigits } from './clean-text';
import { maxTypedPhone, somalia } from './report';
import { useCountries } from './use-countries';

/**
 * A calling code and a number. Both are plain controls, so the browser posts them without JavaScript. The list has the
 * countries where most Somalis live; all others, with their masks, are loaded when the field is first used.
 */
export function PhoneField({ error }: { error?: string }) {
  const text = useText('report');
  const hydrated = useHydrated();
  const select = useRef<HTMLSelectElement>(null);
  const number = useRef<HTMLInputElement>(null);
  const { country, flag, options, loadAll, choose, format } = useCountries(select, number);

  /** Formats the number while it is typed, but only with the cursor at its end: elsewhere the cursor would jump. */
  function type({ target }: ChangeEvent<HTMLInputElement>) {
    const typed = latinDigits(target.value);
    if (typed !== target.value) target.value = typed; // an assignment moves the cursor
    if (/^\s*(\+|00)/.test(target.value) || target.selectionStart === target.value.length) format(target);
  }

  return (
    <Field name="phone" label={text.phone} hint={text.phoneHint} error={error} required>
      {(control) => (
        <div className="grid gap-2 sm:grid-cols-[2fr_3fr]">
          <div className="relative min-w-0">
            <NativeSelect
              ref={select}
              name="country"
              aria-label={text.country}
              autoComplete={hydrated ? 'tel-country-code' : 'off'}
              defaultValue={somalia.code}
              onChange={({ target }) => choose(target.value)}
              onFocus={loadAll}
              onPointerEnter={loadAll}
              className="ps-11"
              suppressHydrationWarning
              // biome-ignore lint/security/noDangerouslySetInnerHtml: the site's own list
              dangerouslySetInnerHTML={{ __html: options }}
            />
            {country && flag && (
              <img
                src={`/flags/${country.iso}.svg`}
                alt=""
                width="24"
                height="18"
                loading="lazy"
                className="pointer-events-none absolute start-3 top-1/2 -translate-y-1/2 rounded-sm"
              />
            )}
          </div>
          <Input
            {...control}
            ref={number}
            type="tel"
            inputMode="tel"
            autoComplete={hydrated ? 'tel-national' : 'off'}
            maxLength={maxTypedPhone}
            placeholder={country?.mask.replaceAll('.', '–')}
            onChange={type}
            onBlur={({ target }) => format(target)}
            onFocus={loadAll}
          />
        </div>
      )}
    </Field>
  );
}
