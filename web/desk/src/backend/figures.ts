import type { StatusCounts } from '@desk/lib/status';
import { rpc } from './client';

export interface Figures {
  total: number;
  weeks: [string, number][];
  statuses: StatusCounts;
  regions: Record<string, number>; // '-' for reports without a known region
  products: [string, number][];
  first_action_hours: { median: number | null; p90: number | null; acted: number; waiting: number };
}

export type Downloads = [month: string, title: string, downloads: number][];

export const readFigures = (since: string) => rpc<Figures>('report_figures', { since });
export const readDownloads = (since: string) =>
  rpc<Downloads>('download_figures', { since: since.slice(0, 10) });
