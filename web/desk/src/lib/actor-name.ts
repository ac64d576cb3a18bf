/** Returns the actor of a line of the trail in the reader's words, if it is none of the members. */
export function actorName(name: string, words: Record<string, string | undefined>) {
  const [actor = '', ...account] = name.split(', ');
  return [words[actor] ?? actor, ...account].join(', ');
}
