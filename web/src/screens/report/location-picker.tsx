import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Field } from '@/components/field';
import { NativeSelect } from '@/components/ui/input';
import { useKept } from '@/components/use-kept';
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

/**
 * A field for the region and one for the district. Before hydration it is one native select with every place, so that
 * the form works without JavaScript; the value is kept. Radix Select and its list of places are loaded when it is
 * opened. If that fails, the native select, whose options are in the page's HTML, comes back.
 */
export function LocationPicker({ value, onChange, required, error }: LocationPickerProps) {
  const text = useText('report');
  const native = useRef<HTMLSelectElement>(null);
  /** The native select's options, which only the prerendered page has. */
  const places = useKept('report-places', () => ({ html: '' }));
  const [nativeInUse, setNativeInUse] = useState(true);

  useEffect(() => {
    const select = native.current;
    if (!select) return;
    places.html ||= select.innerHTML;
    if (select.value) onChange(select.value);
    // Do not replace a focused select, which may be open, until it loses the focus.
    const replace = () => setNativeInUse(false);
    if (document.activeElement !== select) return replace();
    select.addEventListener('blur', replace, { once: true });
    return () => select.removeEventListener('blur', replace);
  }, [onChange, places]);

  function showNative() {
    if (places.html) {
      flushSync(() => setNativeInUse(true));
      native.current?.focus();
    } else if (navigator.onLine) location.reload(); // the reloaded page restores the draft
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
            // biome-ignore lint/security/noDangerouslySetInnerHtml: the site's own list, written at build time
            dangerouslySetInnerHTML={{ __html: places.html || placeOptions(text.selectRegion) }}
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
        onMissing={showNative}
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
          onMissing={showNative}
        />
      )}
    </fieldset>
  );
}

/** 'Region (Gobol)': the word in both languages, each with its lang attribute. */
function BothWords({ own, other }: { own: string; other: string }) {
  return (
    <>
      {own} (<span lang={otherLanguage(useLanguage())}>{other}</span>)
    </>
  );
}
