import type { Values } from '@desk/backend/resources';
import type { TrailRow } from '@desk/backend/trail';
import type { Text } from '@desk/i18n/en';
import { shortDay, shortTime } from '@desk/i18n/format';
import type { Language } from '@/i18n/language';

/**
 * Returns the details as 'status: New → Acted on, reason: …', without the hash of a search. names
 * are those of members by id.
 */
export function trailDetails(
  detail: TrailRow['detail'],
  language: Language,
  text: Text,
  names: Map<string, string>,
) {
  // The type requires a name for each column of a resource.
  const fields: Record<keyof Values, string> & Record<string, string | undefined> = text.trail.fields;
  return Object.entries(detail)
    .filter(([key]) => key !== 'hash') // of a search, for programs
    .map(([key, value]) => {
      const words = [value].flat().map((v) => word(key, v, language, text, names));
      return `${fields[key] ?? key.replaceAll('_', ' ')}: ${words.join(' → ')}`;
    })
    .join(', ');
}

function word(key: string, value: unknown, language: Language, text: Text, names: Map<string, string>) {
  const one = (known: Record<string, string | undefined>) => known[String(value)] ?? String(value);
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? text.trail.values.yes : text.trail.values.no;
  switch (key) {
    case 'reason':
    case 'recipient':
    case 'reviewed_role':
      return String(value); // free text, which may equal a word of another field
    case 'status':
      return one(text.status);
    case 'role':
    case 'from':
    case 'to':
      return one(text.roles);
    case 'assigned_to':
      return names.get(String(value)) ?? String(value);
    case 'channel':
      return one(text.contact.channels);
    case 'outcome':
      return one(text.contact.outcomes);
    case 'notice':
      return one(text.forward.channels);
    case 'sent_on':
    case 'reviewed_on':
    case 'review_due':
      return shortDay(language, String(value));
    case 'priority':
      return one(text.priority);
    case 'seriousness':
      return one(text.seriousness.criteria);
    case 'since':
    case 'until':
      return shortTime(language, String(value));
    default:
      return one(text.trail.values);
  }
}
