import type { Criterion, Priority } from '@desk/lib/case';
import type { Status } from '@desk/lib/status';
import { rpc } from './client';

/** What a reviewer may change about a report, and the version of the report. */
export interface ReportState {
  version: number;
  status: Status;
  assigned_to: string | null;
  duplicate_of: string | null; // an id
  possible_duplicate_of: string | null; // an id
  seriousness: Criterion[] | null; // null before the case is assessed
  priority: Priority;
  due_on: string | null;
}

export type Change = Partial<Omit<ReportState, 'version'>>;

export interface ChangeItem {
  id: string;
  version: number; // that the member saw
  set: Change;
}

export type Outcome =
  | { id: string; result: 'done'; state: ReportState }
  | { id: string; result: 'missing' }
  | {
      id: string;
      result: 'conflict';
      state: ReportState;
      by: { id: string | null; name: string; at: string } | null;
    };

/** The versions after this page's own changes: their member knows them before a screen shows them. */
const own = new Map<string, number>();

let last: Promise<unknown> = Promise.resolve();

/**
 * Changes reports whose version is still the seen one. Changes run one after the other, so that a
 * second one of the same report knows the version after the first.
 */
export function changeReports(items: ChangeItem[]): Promise<Outcome[]> {
  const run = last.then(async () => {
    const changes = items.map((item) => ({
      ...item,
      version: Math.max(item.version, own.get(item.id) ?? 0),
    }));
    const outcomes = await rpc<Outcome[]>('change_reports', { changes });
    for (const outcome of outcomes) {
      if (outcome.result === 'done') own.set(outcome.id, outcome.state.version);
    }
    return outcomes;
  });
  last = run.catch(() => {});
  return run;
}
