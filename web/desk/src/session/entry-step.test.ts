import type { Access } from '@desk/backend/session';
import { expect, test } from 'vitest';
import { entryStep } from './entry-step';

const none: Access = {
  role: null,
  member: false,
  second_factor_required: false,
  second_factor: false,
  has_factor: false,
  id: 'u1',
  email: 'hodan@example.org',
  name: null,
  session_ends: null,
};
const member: Access = { ...none, member: true };

test.each([
  ['no user yet', undefined, undefined, 'loading'],
  ['access not yet read', 'u1', undefined, 'loading'],
  ['no user', null, undefined, 'sign-in'],
  ['signed out, with the access before', null, { ...member, role: 'owner' as const }, 'sign-in'],
  ['an account without a role', 'u1', none, 'not-staff'],
  ['a member whose session has ended', 'u1', member, 'ended'],
  ['a member with a factor', 'u1', { ...member, has_factor: true }, 'verify-factor'],
  ['a required factor', 'u1', { ...member, second_factor_required: true }, 'enrol-factor'],
  [
    'an ended session with its second factor',
    'u1',
    { ...member, has_factor: true, second_factor: true },
    'ended',
  ],
  ['a role', 'u1', { ...member, role: 'owner' as const }, 'desk'],
])('%s: %s, %j: %s', (_, user, access, step) => {
  expect(entryStep({ user, access, welcomed: true })).toBe(step);
});

test('an invited member chooses a password once everything else is there', () => {
  expect(entryStep({ user: 'u1', access: member, welcomed: false })).toBe('ended');
  expect(entryStep({ user: 'u1', access: { ...member, role: 'editor' }, welcomed: false })).toBe('welcome');
});
