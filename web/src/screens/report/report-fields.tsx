import { ChevronDown } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Field } from '@/components/field';
import { Input, Textarea } from '@/components/ui/input';
import { useText } from '@/i18n/text';
import { ExpiryDateField } from './expiry-date-field';
import type { FormState } from './form-state';
import { LocationPicker } from './location-picker';
import { PhoneField } from './phone-field';
import { PhotoField } from './photo-field';
import { maxCharacters } from './report';
import { useErrorOf } from './use-error-of';
import type { CheckedField } from './validate-report';

interface ReportFieldsProps extends Omit<FormState, 'attempts'> {
  chooseLocation: (location: string) => void;
  choosePhoto: (photo: File | undefined) => void;
  /** Whether the browser may fill the name in. */
  autoComplete: boolean;
}

/** The fields of the report form: the required ones, then the optional ones in a fold. */
export function ReportFields({
  location,
  photo,
  wrong,
  asks,
  tooLong,
  generation,
  chooseLocation,
  choosePhoto,
  autoComplete,
}: ReportFieldsProps) {
  const text = useText('report');
  const messageOf = useErrorOf(tooLong);
  const errorOf = (field: CheckedField) => (wrong.includes(field) ? messageOf(field) : undefined);
  return (
    <>
      <PhoneField key={`phone-${generation}`} error={asks ? text.phoneDoubt : errorOf('phone')} />
      <Field
        name="product_name"
        label={text.productName}
        hint={text.productHint}
        error={errorOf('product_name')}
        required
      >
        {(control) => <Input {...control} maxLength={maxCharacters.product_name} />}
      </Field>
      <LocationPicker
        key={`location-${generation}`}
        value={location}
        onChange={chooseLocation}
        error={errorOf('location')}
        required
      />
      <Field
        name="issue_description"
        label={text.problem}
        hint={text.problemHint}
        error={errorOf('issue_description')}
        required
      >
        {(control) => <Textarea {...control} rows={4} />}
      </Field>
      <Fold label={text.more} mustOpen={photo !== undefined || wrong.includes('expiry_date')}>
        <PhotoField key={`photo-${generation}`} photo={photo} onChange={choosePhoto} />
        <Field name="name" label={text.name} hint={text.nameHint}>
          {(control) => (
            <Input {...control} autoComplete={autoComplete ? 'name' : 'off'} maxLength={maxCharacters.name} />
          )}
        </Field>
        <Field name="where_bought" label={text.whereBought} hint={text.whereHint}>
          {(control) => <Input {...control} maxLength={maxCharacters.where_bought} />}
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field name="batch_number" label={text.batchNumber} hint={text.batchHint}>
            {(control) => <Input {...control} maxLength={maxCharacters.batch_number} />}
          </Field>
          <ExpiryDateField error={errorOf('expiry_date')} />
        </div>
      </Fold>
    </>
  );
}

/**
 * Optional fields. The browser opens and closes them without JavaScript; `mustOpen` opens them for a chosen photo or an
 * error.
 */
function Fold({ label, mustOpen, children }: { label: string; mustOpen: boolean; children: ReactNode }) {
  const { optional } = useText('layout');
  const fold = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (mustOpen && fold.current) fold.current.open = true;
  }, [mustOpen]);
  return (
    <details ref={fold} className="group border-input rounded-lg border">
      <summary className="flex min-h-11 cursor-pointer list-none items-center gap-2 rounded-lg p-3 font-semibold hover:bg-muted">
        <ChevronDown aria-hidden className="text-primary size-5 shrink-0 group-open:rotate-180" />
        <span>
          {label} <span className="text-muted-foreground text-sm font-normal">({optional})</span>
        </span>
      </summary>
      <div className="grid gap-5 p-3 md:p-4">{children}</div>
    </details>
  );
}
