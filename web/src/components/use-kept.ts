import { createContext, use, useState } from 'react';

/** Values that outlive a screen, by name. The layout provides the map, which lives as long as the document. */
export const KeptValues = createContext<Map<string, unknown> | undefined>(undefined);

/**
 * Returns the value of that name, and creates it at the first call. Without a layout it lives as long as the component.
 */
export function useKept<Value>(name: string, create: () => Value): Value {
  const kept = use(KeptValues);
  const [value] = useState(() => {
    const known = kept?.get(name) as Value | undefined;
    if (known !== undefined) return known;
    const created = create();
    kept?.set(name, created);
    return created;
  });
  return value;
}
