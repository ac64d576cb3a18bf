import { listStaff, type Member } from '@desk/backend/staff';
import { useLoad } from '@desk/components/use-load';
import { createContext, type ReactNode, use, useMemo } from 'react';

const Context = createContext<{ staff: Member[]; names: Map<string, string> }>({
  staff: [],
  names: new Map(),
});

/** Loads the members of the staff for what is inside. */
export function StaffNames({ children }: { children: ReactNode }) {
  const { data } = useLoad(listStaff, 'staff');
  const value = useMemo(() => {
    const staff = data ?? [];
    return { staff, names: new Map(staff.map((m) => [m.id, m.name])) };
  }, [data]);
  return <Context value={value}>{children}</Context>;
}

export const useStaff = () => use(Context).staff;

/** The names of members by their ids. */
export const useStaffNames = () => use(Context).names;
