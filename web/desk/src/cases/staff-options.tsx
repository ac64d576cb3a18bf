import type { Member } from '@desk/backend/staff';
import { useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';

/** The members who may work on reports, and none, as options of a list. */
export function StaffOptions({ staff }: { staff: Member[] }) {
  const text = useText();
  const { id: me } = useAccess();
  return (
    <>
      <option value="">{text.report.unassigned}</option>
      {staff
        .filter((m) => m.role !== 'editor')
        .map((m) => (
          <option key={m.id} value={m.id}>
            {m.id === me ? `${m.name} (${text.you})` : m.name}
          </option>
        ))}
    </>
  );
}
