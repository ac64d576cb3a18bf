import { useAccess } from '@desk/session/access';
import { useStaffNames } from '@desk/session/staff-names';
import { useReportsChannel } from './reports-channel';

/** The names of the other members at the desk, or of those who have a report open. */
export function useColleagues(reference?: string): string[] {
  const { here } = useReportsChannel();
  const { id: me } = useAccess();
  const names = useStaffNames();
  return Object.entries(here)
    .filter(([id, places]) => id !== me && (!reference || places.some(({ report }) => report === reference)))
    .flatMap(([id]) => names.get(id) ?? []);
}
