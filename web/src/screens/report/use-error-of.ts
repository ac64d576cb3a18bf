import { useText } from '@/i18n/text';
import { maxCharacters } from './report';
import type { CheckedField } from './validate-report';

/** Returns the function that gives the message of an invalid field. */
export function useErrorOf(tooLong: boolean) {
  const { errors } = useText('report');
  return (field: CheckedField) =>
    tooLong && field === 'issue_description'
      ? errors.tooLong.replace('{count}', String(maxCharacters.issue_description))
      : errors[field];
}
