import type { LogLine, SystemState } from '@desk/backend/system';
import { en } from '@desk/i18n/en';
import { expect, test } from 'vitest';
import { functionRows, isAlarming, newestLines, sizesOf } from './state';

test('sizesOf has a line for each bucket', () => {
  const state: SystemState = {
    postgres: '17.2',
    database_bytes: 12_500_000,
    schema: '20261101',
    buckets: [
      { name: 'report-photos', public: false, files: 1, bytes: 1024 },
      { name: 'resources', public: true, files: 12, bytes: 3_008_000 },
    ],
    reports: 3,
    trail: 40,
    jobs: [],
  };
  expect(sizesOf(state, undefined, en)).toEqual([
    ['Program', '–'],
    ['Postgres', '17.2'],
    ['Schema', '20261101'],
    ['Database', '11.9 MB'],
    ['Reports', '3'],
    ['Trail', '40'],
    ['report-photos', '1 file, 1 KB'],
    ['resources', '12 files, 2.9 MB'],
  ]);
  expect(sizesOf(state, '1.0.0', en)[0]).toEqual(['Program', '1.0.0']);
});

test('a function without a call has zeros, and times are at least 1 ms', () => {
  const rows = functionRows({
    source: 'built in',
    functions: [{ name: 'system' }, { name: 'submit-report' }],
    stats: [{ function: 'submit-report', calls: 9, errors: 1, p50: 300_000, p95: 12_600_000 }],
  });
  expect(rows).toEqual([
    { name: 'system', calls: 0, errors: 0, half: '–', most: '–' },
    { name: 'submit-report', calls: 9, errors: 1, half: '1 ms', most: '13 ms' },
  ]);
});

test('the log shows its last 200 lines, the newest first', () => {
  const lines = Array.from({ length: 250 }, (_, n) => ({ n, time: '', level: 'INFO', text: '' }));
  const shown = newestLines(lines);
  expect(shown).toHaveLength(200);
  expect([shown[0]?.n, shown.at(-1)?.n]).toEqual([249, 50]);
  expect(lines[0]?.n).toBe(0);
});

test.each([
  ['INFO', false],
  ['WARN', true],
  ['ERROR', true],
  ['DEBUG', false],
])('%s is alarming: %s', (level, alarming) => {
  expect(isAlarming({ level } as LogLine)).toBe(alarming);
});
