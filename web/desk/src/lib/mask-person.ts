const mask = '▒▒▒';

/**
 * Replaces the known name and numbers of a person, mail addresses, and everything that looks like a
 * phone number.
 */
export function maskPerson(text: string, known: (string | null)[]) {
  let result = text;
  for (const value of known) {
    for (const part of value?.split(/\s+/) ?? []) {
      if (part.length >= 3) result = result.replace(new RegExp(literal(part), 'giu'), mask);
    }
  }
  return result.replace(/\S+@\S+\.\S+/g, mask).replace(/\+?\d(?:[\s().-]?\d){6,}/g, mask);
}

const literal = (s: string) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
