import type { Change } from '@desk/backend/change-reports';
import type { Row } from '@desk/backend/reports';
import { useText } from '@desk/i18n/language';
import { statuses } from '@desk/lib/status';
import { useAccess } from '@desk/session/access';
import { chosenIndex, rowAt } from './chosen-report';
import { useKeys } from './use-keys';

interface Actions {
  rows: Row[];
  open: (reference: string | undefined) => void;
  apply: (row: Row, set: Change, done: string) => void;
  check: (id: string) => void;
  undo: () => void;
  rearrange: () => void;
  focusSearch: () => void;
  help: () => void;
}

/** Binds the keys of the inbox. Returns the function that moves the choice by a number of rows. */
export function useInboxKeys({ rows, open, apply, check, undo, rearrange, focusSearch, help }: Actions) {
  const text = useText();
  const { id: me } = useAccess();
  const chosen = () => chosenIndex(rows, window.location.hash);
  const withChosen = (act: (row: Row) => void) => () => {
    const row = rows[chosen()];
    if (row) act(row);
  };
  const step = (steps: number) => {
    const row = rowAt(rows, chosen(), steps);
    if (row) open(row.reference);
  };
  const close = () => open(undefined);
  const setStatus = statuses.map((status, i) => [
    String(i + 1),
    withChosen((row) => apply(row, { status }, text.report.changed(text.status[status]))),
  ]);
  useKeys({
    ...Object.fromEntries(setStatus),
    j: () => step(1),
    k: () => step(-1),
    a: withChosen((row) => apply(row, { assigned_to: row.assigned_to === me ? null : me }, text.saved)),
    x: withChosen((row) => check(row.id)),
    u: undo,
    r: rearrange,
    n: () => document.getElementById('note')?.focus(),
    '/': focusSearch,
    '?': help,
    Escape: close,
  });
  return step;
}
