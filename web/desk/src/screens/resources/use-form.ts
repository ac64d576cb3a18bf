import type { Resource, Values } from '@desk/backend/resources';
import { useDraft } from '@desk/session/use-draft';
import { useCallback, useMemo } from 'react';
import { type Field, merge } from './merge';
import { valuesOf } from './values';

/** What the person has changed, and what the resource was when they began. */
interface Draft {
  base: Values;
  values: Values;
}

interface Form {
  values: Values;
  both: Field[]; // that a colleague has changed, too
  theirs: Values;
  drafted: boolean;
  set: (change: Partial<Values>) => void;
  /** Takes the colleague's value of a field, or keeps the own one. */
  settle: (field: Field, take: boolean) => void;
  forget: () => void;
}

/** The values of a resource's form. They are kept as a draft and merged with changes of colleagues. */
export function useForm(resource: Resource | undefined): Form {
  const [draft, keep, drafted] = useDraft<Draft | null>(`resource:${resource?.id ?? 'new'}`, null);
  const theirs = useMemo(() => valuesOf(resource), [resource]);
  const base = draft?.base ?? theirs;
  const { values, both } = useMemo(() => merge(base, draft?.values ?? theirs, theirs), [base, draft, theirs]);
  const set = useCallback(
    (change: Partial<Values>) => keep({ base, values: { ...(draft?.values ?? theirs), ...change } }),
    [keep, base, draft, theirs],
  );
  const settle = (field: Field, take: boolean) =>
    keep({
      base: { ...base, [field]: theirs[field] },
      values: { ...(draft?.values ?? theirs), ...(take && { [field]: theirs[field] }) },
    });
  return { values, both, theirs, drafted, set, settle, forget: () => keep(null) };
}
