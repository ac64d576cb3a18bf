import type { Change } from '@desk/backend/change-reports';
import type { Contact } from '@desk/backend/contacts';
import type { TimelineEntry } from '@desk/backend/reports';
import { stateWord } from '@desk/cases/state-word';
import type { Text } from '@desk/i18n/en';
import { actorName } from '@desk/lib/actor-name';
import type { Language } from '@/i18n/language';

/** Returns an entry of the timeline in the reader's words: the member, and 'status: New → Closed'. */
export function timelineLine(
  { action, actor, actor_name, detail }: TimelineEntry,
  text: Text,
  language: Language,
  names: Map<string, string>,
) {
  const who = actor_name && (names.get(actor ?? '') ?? actorName(actor_name, text.trail.actors));
  const known: Record<string, string | undefined> = text.timeline.actions;
  if (action === 'contact') {
    const { channel, outcome } = detail as Pick<Contact, 'channel' | 'outcome'>;
    const words = `${text.contact.channels[channel]}, ${text.contact.outcomes[outcome]}`;
    return { who, what: `${known[action]}: ${words}` };
  }
  if (action === 'notice') return { who, what: `${known.notice} ${detail.recipient}` };
  if (action === 'link' && detail.linked === false) return { who, what: known.unlink ?? action };
  if (action !== 'change') return { who, what: known[action] ?? action };
  const fields: Record<string, string | undefined> = text.conflict.fields;
  const changes = Object.entries(detail).map(([field, value]) => {
    const name = fields[field] ?? field;
    if (!Array.isArray(value) || field.endsWith('duplicate_of')) return name;
    const words = value.map((each) => stateWord(field as keyof Change, each, text, language, names));
    return `${name}: ${words.join(' → ')}`;
  });
  return { who, what: changes.join(', ') };
}
