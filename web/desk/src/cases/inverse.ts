import type { Change, ChangeItem, ReportState } from '@desk/backend/change-reports';

/** A report as a screen shows it. The list knows less than the open report. */
export type Known = { id: string; reference: string; version: number } & Partial<ReportState>;

/** Returns the change that puts back what a report had before set. */
export function inverse(report: Known, set: Change): ChangeItem {
  const names = Object.keys(set) as (keyof Change)[];
  const before = Object.fromEntries(names.map((name) => [name, report[name] ?? null]));
  return { id: report.id, version: report.version, set: before as Change };
}
