import { type Access, hasSignedOut } from '@desk/backend/session';
import { useEffect, useState } from 'react';
import type { EntryStep } from './entry-step';
import { hasRunOut } from './session-end';
import { forgetPerson } from './use-session';

interface State {
  step: EntryStep;
  user: string | null | undefined;
  access: Access | undefined;
}

/**
 * Keeps the access of an open desk while its person signs in again after the end of the session.
 * Returns undefined when the page has to close.
 */
export function useHeldDesk({ step, user, access }: State): Access | undefined {
  const [held, setHeld] = useState<Access>();
  const [continuing, setContinuing] = useState(false);
  const open = step === 'desk' ? access : undefined;
  const stays =
    held !== undefined &&
    step !== 'not-staff' &&
    !hasSignedOut() &&
    (user === null || user === undefined || user === held.id) &&
    (continuing || hasRunOut(held, access));
  useEffect(() => {
    if (open) {
      setHeld(open);
      setContinuing(false);
    } else if (held) {
      setContinuing(stays);
      if (stays) return;
      setHeld(undefined);
      forgetPerson();
    }
  }, [open, held, stays]);
  return open ?? (stays ? held : undefined);
}
