import type { Report } from '@desk/backend/reports';
import type { Known } from './inverse';

/** Returns what changes know of the open report, whose duplicate_of is a reference. */
export const known = (report: Report): Known => ({ ...report, duplicate_of: report.duplicate_id });
