import { type Change, type ChangeItem, changeReports, type Outcome } from '@desk/backend/change-reports';
import { message } from '@desk/components/message';
import { useText } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { createContext, type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react';
import { ConflictDialog } from './conflict-dialog';
import { inverse, type Known } from './inverse';
import { useReportsChannel } from './reports-channel';

/** Milliseconds in which a change can be undone. */
const undoTime = 10_000;

export interface Conflict {
  number: number; // two of one report have dialogs of their own
  reference: string;
  set: Change;
  outcome: Extract<Outcome, { result: 'conflict' }>;
}

interface Changes {
  /** Sets values of reports that the screen shows as known, tells the person with done, and returns whether one was set. */
  change: (reports: Known[], set: Change, done: string) => Promise<boolean>;
  undo: () => void;
}

const Context = createContext<Changes | null>(null);

/** Changes reports by the version that the person saw, shows conflicts, and undoes changes. */
export function ReportChanges({ children }: { children: ReactNode }) {
  const text = useText();
  const [conflicts, setConflicts] = useState<Conflict[]>([]);
  const count = useRef(0);
  const undoable = useRef<{ items: ChangeItem[]; names: Map<string, string>; until: number }[]>([]);
  const { tell: signal } = useReportsChannel();

  const send = useCallback(
    async (items: ChangeItem[], names: Map<string, string>, done: string) => {
      let outcomes: Outcome[] = [];
      try {
        outcomes = await changeReports(items);
      } catch (error) {
        toast.error(text.failed(message(error, text)));
      }
      const found = outcomes.flatMap((outcome) => {
        if (outcome.result !== 'conflict') return [];
        const set = items.find(({ id }) => id === outcome.id)?.set ?? {};
        return [{ number: ++count.current, reference: names.get(outcome.id) ?? '', set, outcome }];
      });
      if (found.length > 0) setConflicts((old) => [...old, ...found]);
      const kept = new Set(outcomes.filter(({ result }) => result === 'done').map(({ id }) => id));
      signal();
      return { kept, tell: kept.size > 0 ? done : '' };
    },
    [text, signal],
  );

  const undo = useCallback(async () => {
    const last = undoable.current.pop();
    toast.dismiss('change');
    if (!last || last.until < Date.now()) return;
    const { tell } = await send(last.items, last.names, text.undone);
    if (tell) toast.success(tell, { id: 'undone' });
  }, [send, text]);

  const change = useCallback(
    async (reports: Known[], set: Change, done: string) => {
      const items = reports.map(({ id, version }) => ({ id, version, set }));
      const names = new Map(reports.map(({ id, reference }) => [id, reference]));
      const { kept, tell } = await send(items, names, done);
      if (!tell) return false;
      // The versions after this change are known to changeReports.
      const back = reports.filter(({ id }) => kept.has(id)).map((report) => inverse(report, set));
      undoable.current = [
        ...undoable.current.slice(-19),
        { items: back, names, until: Date.now() + undoTime },
      ];
      toast.success(tell, {
        id: 'change',
        time: undoTime,
        action: { label: text.undo, run: () => void undo() },
      });
      return true;
    },
    [send, text, undo],
  );

  const value = useMemo(() => ({ change, undo: () => void undo() }), [change, undo]);
  const [first] = conflicts;
  const close = () => setConflicts((old) => old.slice(1));
  return (
    <Context value={value}>
      {children}
      {first && (
        <ConflictDialog
          key={first.number}
          conflict={first}
          onClose={close}
          onInsist={() => {
            close();
            const { id, state } = first.outcome;
            void change([{ ...state, id, reference: first.reference }], first.set, text.saved);
          }}
        />
      )}
    </Context>
  );
}

export function useChanges(): Changes {
  const value = use(Context);
  if (!value) throw new Error('useChanges needs a ReportChanges above it');
  return value;
}
