import { draftOf, keepDraft } from '@desk/lib/drafts';
import { useCallback, useState } from 'react';
import { useAccess } from './access';

/**
 * State that is kept as a draft of the member. empty is the state without a draft; setting it
 * removes the draft. The component needs name as its key.
 */
export function useDraft<T>(name: string, empty: T): [T, (value: T) => void, boolean] {
  const { id } = useAccess();
  const key = `${id}:${name}`;
  const [value, change] = useState<T>(() => draftOf<T>(key) ?? empty);
  const [drafted, setDrafted] = useState(() => draftOf(key) !== undefined);
  const set = useCallback(
    (next: T) => {
      change(next);
      const kept = next !== empty;
      keepDraft(key, kept ? next : undefined);
      setDrafted(kept);
    },
    [key, empty],
  );
  return [value, set, drafted];
}
