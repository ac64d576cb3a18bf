import type { Change } from '@desk/backend/change-reports';
import type { Text } from '@desk/i18n/en';
import { shortDay } from '@desk/i18n/format';
import type { Criterion, Priority } from '@desk/lib/case';
import type { Status } from '@desk/lib/status';
import type { Language } from '@/i18n/language';

/** Returns a value of a report in the reader's words. names are those of members by id. */
export function stateWord(
  field: keyof Change,
  value: unknown,
  text: Text,
  language: Language,
  names: Map<string, string>,
): string {
  if (field === 'seriousness') return seriousnessWord(value as Criterion[] | null, text);
  if (value === null || value === undefined) return '–';
  switch (field) {
    case 'status':
      return text.status[value as Status];
    case 'priority':
      return text.priority[value as Priority];
    case 'assigned_to':
      return names.get(String(value)) ?? text.unknown;
    case 'due_on':
      return shortDay(language, String(value));
    default:
      return String(value);
  }
}

/** Returns 'not assessed', 'not serious', or the criteria. */
export function seriousnessWord(value: readonly Criterion[] | null, text: Text) {
  if (!value) return text.seriousness.none;
  if (value.length === 0) return text.seriousness.not;
  return value.map((criterion) => text.seriousness.criteria[criterion]).join(', ');
}
