import { listStaff } from '@desk/backend/staff';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { Invite } from './invite';
import { MemberLine } from './member-line';

/** The members of the staff; owners invite, change and remove them here. */
export default function StaffScreen() {
  const text = useText();
  const { data, error, reload } = useLoad(listStaff, 'staff');
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <ScreenHead title={text.staff.title} />
      <Invite members={data ?? []} onDone={reload} />
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data && (
        <ul className="bg-card divide-y rounded-lg border">
          {data.map((member) => (
            <MemberLine key={member.id} member={member} onDone={reload} />
          ))}
        </ul>
      )}
    </div>
  );
}
