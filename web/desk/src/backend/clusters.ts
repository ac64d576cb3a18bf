import type { Status } from '@desk/lib/status';
import { rpc } from './client';

/** Why a report belongs to another one. */
export const reasons = ['linked', 'copy', 'batch', 'shop', 'product', 'words'] as const;
export type Reason = (typeof reasons)[number];

export interface Related {
  id: string;
  reference: string;
  status: Status;
  product_name: string;
  region: string | null;
  district: string | null;
  created_at: string;
  reasons: Reason[];
  likely: boolean; // a copy that was found at arrival
}

/** Returns the reports that belong to a report, the surest first, and how many there are. */
export const relatedReports = (report: string) =>
  rpc<{ total: number; reports: Related[] }>('related_reports', { report });

/** Links reports that belong together, or takes a report out of its group. */
export const linkReports = (report: string, others: string[], linked: boolean) =>
  rpc<void>('link_reports', { report, others, linked });

/** A product that is reported more often than its past explains. */
export interface Rising {
  product: string;
  now: number; // reports of the last seven days
  before: number; // a week, on average of twelve
  weeks: number[]; // thirteen, the last one is now
  chance: number;
}

export interface Group {
  kind: 'batch' | 'shop' | 'place';
  label: string;
  product: string;
  n: number;
  open: number;
  first: string;
  last: string;
  regions: string[] | null;
  reports: { id: string; reference: string; status: Status; created_at: string }[]; // the newest eight
}

export interface Clusters {
  rising: Rising[];
  groups: Group[];
  all: { now: number; before: number };
}

export const readClusters = () => rpc<Clusters>('report_clusters');
