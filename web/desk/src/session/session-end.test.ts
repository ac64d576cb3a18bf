import type { Access } from '@desk/backend/session';
import { expect, test } from 'vitest';
import { hasRunOut } from './session-end';

const ends = '2026-11-03T20:00:00Z';
const access = { id: 'me', member: true, role: 'reviewer', session_ends: ends } as Access;
const before = Date.parse('2026-11-03T12:00:00Z');
const after = Date.parse('2026-11-03T20:00:01Z');

test.each([
  ['the session is over', { ...access, role: null }, before, true],
  ['its row is swept away', { ...access, role: null, session_ends: null }, after, true],
  ['the server has no session any more', undefined, after, true],
  ['it was ended on another device', { ...access, role: null, session_ends: null }, before, false],
  ['the token was refused before the end', undefined, before, false],
  ['the person is no member any more', { ...access, role: null, member: false }, after, false],
  ['another person signed in', { ...access, id: 'you', role: null }, after, false],
  ['the session lives', access, after, false],
] as [string, Access | undefined, number, boolean][])('%s', (_, now, time, expected) => {
  expect(hasRunOut(access, now, time)).toBe(expected);
});

test('before the desk was open, no session can run out', () => {
  expect(hasRunOut(undefined, undefined, after)).toBe(false);
});
