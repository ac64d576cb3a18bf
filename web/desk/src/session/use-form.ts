import { useCallback, useMemo } from 'react';
import { merge } from './merge';
import { useDraft } from './use-draft';

/** What the person has changed, and what it was when they began. */
interface Draft<T> {
  base: T;
  values: T;
}

interface Form<T> {
  values: T;
  both: (keyof T)[]; // that a colleague has changed, too
  theirs: T;
  drafted: boolean;
  set: (change: Partial<T>) => void;
  /** Takes the colleague's value of a field, or keeps the own one. */
  settle: (field: keyof T, take: boolean) => void;
  forget: () => void;
}

/**
 * The values of a form that changes a row. They are kept as a draft with a name and merged with the
 * changes of colleagues. theirs is the row at present; it stays the same object until it is read again.
 */
export function useForm<T extends object>(name: string, theirs: T): Form<T> {
  const [draft, keep, drafted] = useDraft<Draft<T> | null>(name, null);
  const { values, both } = useMemo(
    () => merge(draft?.base ?? theirs, draft?.values ?? theirs, theirs),
    [draft, theirs],
  );
  // A change may come late, such as a file after its upload: it joins what the person has typed since.
  const set = useCallback(
    (change: Partial<T>) =>
      keep((old) => ({ base: old?.base ?? theirs, values: { ...(old?.values ?? theirs), ...change } })),
    [keep, theirs],
  );
  const settle = (field: keyof T, take: boolean) =>
    keep((old) => ({
      base: { ...(old?.base ?? theirs), [field]: theirs[field] },
      values: { ...(old?.values ?? theirs), ...(take && { [field]: theirs[field] }) },
    }));
  return { values, both, theirs, drafted, set, settle, forget: () => keep(null) };
}
