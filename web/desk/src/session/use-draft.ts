import { draftOf, keepDraft } from '@desk/lib/drafts';
import { useCallback, useRef, useState } from 'react';
import { useAccess } from './access';

/**
 * State that is kept as a draft of the member. empty is the state without a draft; setting it
 * removes the draft. A function gets the latest state, also from an earlier render. The component
 * needs name as its key.
 */
export function useDraft<T>(name: string, empty: T): [T, (value: T | ((old: T) => T)) => void, boolean] {
  const { id } = useAccess();
  const key = `${id}:${name}`;
  const [value, change] = useState<T>(() => draftOf<T>(key) ?? empty);
  const [drafted, setDrafted] = useState(() => draftOf(key) !== undefined);
  const latest = useRef(value);
  const set = useCallback(
    (given: T | ((old: T) => T)) => {
      const next = typeof given === 'function' ? (given as (old: T) => T)(latest.current) : given;
      latest.current = next;
      change(next);
      const kept = next !== empty;
      keepDraft(key, kept ? next : undefined);
      setDrafted(kept);
    },
    [key, empty],
  );
  return [value, set, drafted];
}
