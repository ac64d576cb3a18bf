/**
 * Returns the form after a colleague has changed what it edits. A field that the person has not
 * touched takes the colleague's value; a field that both have changed stays and is named in both.
 * base is what the form began with.
 */
export function merge<T extends object>(base: T, mine: T, theirs: T): { values: T; both: (keyof T)[] } {
  const names = Object.keys(base) as (keyof T)[];
  const both = names.filter(
    (name) => mine[name] !== base[name] && theirs[name] !== base[name] && mine[name] !== theirs[name],
  );
  const entries = names.map((name) => [name, mine[name] === base[name] ? theirs[name] : mine[name]]);
  return { values: Object.fromEntries(entries), both };
}
