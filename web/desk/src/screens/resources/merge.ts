import type { Values } from '@desk/backend/resources';

export type Field = keyof Values;

/**
 * Returns the form after a colleague has changed the resource. A field that the person has not
 * touched takes the colleague's value; a field that both have changed stays and is named in both.
 * base is what the form began with.
 */
export function merge(base: Values, mine: Values, theirs: Values): { values: Values; both: Field[] } {
  const names = Object.keys(base) as Field[];
  const both = names.filter(
    (name) => mine[name] !== base[name] && theirs[name] !== base[name] && mine[name] !== theirs[name],
  );
  const entries = names.map((name) => [name, mine[name] === base[name] ? theirs[name] : mine[name]]);
  return { values: Object.fromEntries(entries), both };
}
