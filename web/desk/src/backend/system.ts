import { invoke, rpc } from './client';

export interface Job {
  id: number;
  kind: string;
  name: string | null;
  state: string;
  attempt: number;
  max_attempts: number;
  created_at: string;
  scheduled_at: string;
  error: string | null;
}

export interface SystemState {
  postgres: string;
  database_bytes: number;
  schema: string;
  buckets: { name: string; public: boolean; files: number; bytes: number }[];
  reports: number;
  trail: number;
  jobs: Job[];
}

export const readSystem = () => rpc<SystemState>('system_state');
export const retryJob = (job: number) => rpc<boolean>('retry_job', { job });

/** The result of a check. Code and Args are Says for other languages; see i18n/en/checks.ts. */
export interface Finding {
  Verdict: string;
  What: string;
  Says: string;
  Code: string;
  Args: string[];
}

export interface Backup {
  Name: string;
  Time: string;
  Size: number;
}

/** What a verification has read and found good. */
export interface Verified {
  Backups: number;
  Segments: number;
  Files: number;
  Bytes: number;
}

/** The functions that a server has, and the figures of those that were called since its start. */
export interface FunctionsState {
  source: string;
  functions: { name: string }[];
  stats: { function: string; calls: number; errors: number; p50: number; p95: number }[]; // times in nanoseconds
}

export interface LogLine {
  n: number;
  time: string;
  level: string;
  text: string;
}

/**
 * Milliseconds after which an operation is given up: what the function allows. A backup is restored
 * before it counts.
 */
const operationTimeout = 600_000;

/**
 * Runs an operation of the program. The function checks that the caller is an owner, and the trail
 * keeps it.
 */
export const operate = <T>(operation: string) =>
  invoke<T>('system', { operation }, AbortSignal.timeout(operationTimeout));
