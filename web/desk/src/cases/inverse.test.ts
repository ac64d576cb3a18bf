import { expect, test } from 'vitest';
import { inverse } from './inverse';

test('the inverse sets what the report had, and nothing else', () => {
  const report = { id: 'a', reference: 'DW-1', version: 3, status: 'new' as const, assigned_to: 'me' };
  expect(inverse(report, { status: 'closed', due_on: '2026-12-01' })).toEqual({
    id: 'a',
    version: 3,
    set: { status: 'new', due_on: null },
  });
});
