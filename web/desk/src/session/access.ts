import type { Access, Role } from '@desk/backend/session';
import { createContext, use } from 'react';

/** The role and the account of the signed-in person. */
interface SignedIn extends Access {
  role: Role;
  reload: () => Promise<void>;
}

export const AccessContext = createContext<SignedIn | null>(null);

export function useAccess(): SignedIn {
  const value = use(AccessContext);
  if (!value) throw new Error('useAccess needs a SessionGate above it');
  return value;
}
