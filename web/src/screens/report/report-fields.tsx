import { Field } from '@/components/field';
import { Input, Textarea } from '@/components/ui/input';
import { useText } from '@/i18n/text';
import { ExpiryDateField } from './expiry-date-field';
import type { FormState } from './form-state';
import { LocationPicker } from './location-picker';
import { PhoneField } from './phone-field';
import { PhotoField } from './photo-field';
import { maxCharacters } from './report';
import type { CheckedField } from './validate-report';

interface ReportFieldsProps extends Omit<FormState, 'attempts'> {
  chooseLocation: (location: string) => void;
  choosePhoto: (photo: File | undefined) => void;
  /** Whether the browser may fill the name in. */
  autoComplete: boolean;
}

/** The fields of the report form, in the order of the specification. */
export function ReportFields({
  location,
  photo,
  wrong,
  generation,
  chooseLocation,
  choosePhoto,
  autoComplete,
}: ReportFieldsProps) {
  const text = useText('report');
  const errorOf = (field: CheckedField) => (wrong.includes(field) ? text.errors[field] : undefined);
  return (
    <>
      <Field name="name" label={text.name} hint={text.nameHint}>
        {(control) => (
          <Input {...control} autoComplete={autoComplete ? 'name' : 'off'} maxLength={maxCharacters.name} />
        )}
      </Field>
      <PhoneField key={`phone-${generation}`} error={errorOf('phone')} />
      <Field
        name="product_name"
        label={text.productName}
        hint={text.productHint}
        error={errorOf('product_name')}
        required
      >
        {(control) => <Input {...control} maxLength={maxCharacters.product_name} />}
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
        {(control) => <Textarea {...control} rows={4} maxLength={maxCharacters.issue_description} />}
      </Field>
      <PhotoField key={`photo-${generation}`} photo={photo} onChange={choosePhoto} />
    </>
  );
}
