import { ReportsChannel } from '@desk/cases/reports-channel';
import { StaffNames } from '@desk/session/staff-names';
import { Inbox } from './inbox';

/** The list of reports and, beside it, the chosen one. */
export function InboxScreen() {
  return (
    <StaffNames>
      <ReportsChannel>
        <Inbox />
      </ReportsChannel>
    </StaffNames>
  );
}
