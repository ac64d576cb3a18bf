/** Members who are on the channel, by their ids, with the report that each has open. */
export type Here = Record<string, { report: string | null }[]>;

/** A message of supabase-js about members who come or go. */
interface Joined {
  key: string;
  newPresences: { presence_ref: string; report?: unknown }[];
}

interface Left {
  leftPresences: { presence_ref: string }[];
}

/**
 * Counts who is on a channel by the messages. The state of supabase-js 2.109 forgets the references
 * of members who open another report, and keeps them after they have left.
 */
export function attendance() {
  const present = new Map<string, { member: string; report: string | null }>();
  return {
    join: ({ key, newPresences }: Joined) => {
      for (const { presence_ref, report } of newPresences) {
        present.set(presence_ref, { member: key, report: typeof report === 'string' ? report : null });
      }
    },
    leave: ({ leftPresences }: Left) => {
      for (const { presence_ref } of leftPresences) present.delete(presence_ref);
    },
    here: (): Here => {
      const here: Here = {};
      for (const { member, report } of present.values()) here[member] = [...(here[member] ?? []), { report }];
      return here;
    },
  };
}
