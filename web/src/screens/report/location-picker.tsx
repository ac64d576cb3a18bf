import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Field } from '@/components/field';
import { NativeSelect } from '@/components/ui/input';
import { otherLanguage, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { PlaceField } from './place-field';
import { placeOptions } from './place-options';

interface LocationPickerProps {
  /** 'region' or 'region, district'. */
  value: string;
  onChange: (location: string) => void;
  required?: boolean;
  error?: string;
}

/** The native select's options. They come with the prerendered page alone. */
let places = '';

/**
 * Region, then district. Before hydration it is one native select with every place, so that the plain form
 * works; a choice made there is taken over. The list of places comes with the page's HTML, and again, with
 * Radix Select, only when it is opened; when that does not arrive, the native select is back.
 */
export function LocationPicker({ value, onChange, required, error }: LocationPickerProps) {
  const text = useText('report');
  const native = useRef<HTMLSelectElement>(null);
  const [nativeInUse, setNativeInUse] = useState(true);

  useEffect(() => {
    const select = native.current;
    if (!select) return;
    places ||= select.innerHTML;
    if (select.value) onChange(select.value);
    // A select that is open or focused stays until the reader leaves it.
    const take = () => setNativeInUse(false);
    if (document.activeElement !== select) return take();
    select.addEventListener('blur', take, { once: true });
    return () => select.removeEventListener('blur', take);
  }, [onChange]);

  function comeBack() {
    if (places) {
      flushSync(() => setNativeInUse(true));
      native.current?.focus();
    } else if (navigator.onLine) location.reload(); // the draft comes back with it
  }

  if (nativeInUse) {
    return (
      <Field name="location" label={text.location} hint={text.locationHint} error={error} required={required}>
        {(control) => (
          <NativeSelect
            {...control}
            ref={native}
            defaultValue={value || undefined}
            onChange={({ target }) => onChange(target.value)}
            suppressHydrationWarning
            // biome-ignore lint/security/noDangerouslySetInnerHtml: our own list of places, written at build time
            dangerouslySetInnerHTML={{ __html: places || placeOptions(text.selectRegion) }}
          />
        )}
      </Field>
    );
  }

  const [region = '', district = ''] = value.split(', ');
  return (
    <fieldset className="grid content-start gap-4">
      <legend className="sr-only">{text.location}</legend>
      <input type="hidden" name="location" value={value} />
      <PlaceField
        name="region"
        label={<BothWords own={text.region} other={text.regionOther} />}
        hint={text.locationHint}
        error={error}
        required={required}
        value={region}
        placeholder={text.selectRegion}
        onChange={onChange}
        onMissing={comeBack}
      />
      {region && (
        <PlaceField
          key={region}
          name="district"
          region={region}
          label={<BothWords own={text.district} other={text.districtOther} />}
          value={district}
          placeholder={text.selectDistrict}
          onChange={(chosen) => onChange(`${region}, ${chosen}`)}
          onMissing={comeBack}
        />
      )}
    </fieldset>
  );
}

/** 'Region (Gobol)': both languages' words, each marked with its own. */
function BothWords({ own, other }: { own: string; other: string }) {
  return (
    <>
      {own} (<span lang={otherLanguage(useLanguage())}>{other}</span>)
    </>
  );
}
