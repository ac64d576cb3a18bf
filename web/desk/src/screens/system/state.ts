import type { FunctionsState, LogLine, SystemState } from '@desk/backend/system';
import type { Text } from '@desk/i18n/en';
import { fileSize } from '@/lib/file-size';

const size = (bytes: number) => fileSize(bytes, 1);

/**
 * Returns the names and the values of versions and sizes. The version is undefined until it is
 * known.
 */
export function sizesOf(state: SystemState, version: string | undefined, text: Text): [string, string][] {
  return [
    [text.system.version, version ?? '–'],
    ['Postgres', state.postgres],
    [text.system.schema, state.schema],
    [text.system.database, size(state.database_bytes)],
    [text.nav.reports, String(state.reports)],
    [text.nav.trail, String(state.trail)],
    ...state.buckets.map(({ name, files, bytes }): [string, string] => [
      name,
      `${text.system.files(files)}, ${size(bytes)}`,
    ]),
  ];
}

/** Returns the functions in their order, with the figures of their calls as texts. */
export function functionRows({ functions, stats }: FunctionsState) {
  return functions.map(({ name }) => {
    const figures = stats.find((s) => s.function === name);
    return {
      name,
      calls: figures?.calls ?? 0,
      errors: figures?.errors ?? 0,
      half: figures ? milliseconds(figures.p50) : '–',
      most: figures ? milliseconds(figures.p95) : '–',
    };
  });
}

const milliseconds = (nanoseconds: number) => `${Math.max(1, Math.round(nanoseconds / 1e6))} ms`;

/** Lines of the log that are shown. */
const shown = 200;

/** Returns the last lines of a log, the newest first. */
export const newestLines = (lines: readonly LogLine[]) => lines.slice(-shown).reverse();

/** Reports whether a line of a log is a warning or an error. */
export const isAlarming = ({ level }: LogLine) => /WARN|ERROR/.test(level);
