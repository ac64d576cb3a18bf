// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { isInvitation, isMailedLink, isUsedLink, takeLink } from './opened-link';

test.each([
  ['#/welcome?token_hash=0a1b&type=invite', { hash: '0a1b', type: 'invite' }, '#/'],
  ['#/welcome?token_hash=0a1b', { hash: '0a1b', type: '' }, '#/'],
  ['#/welcome?type=invite', null, '#/'],
  ['#/welcome', null, '#/welcome'],
  ['#/reports/DW-2B3C?token_hash=0a1b', null, '#/reports/DW-2B3C?token_hash=0a1b'],
  ['', null, ''],
])('%j', (fragment, link, left) => {
  history.replaceState(null, '', `/${fragment}`);
  expect(takeLink()).toEqual(link);
  expect(location.hash).toBe(left);
});

test.each([
  ['#access_token=x&type=invite', true],
  ['#type=invite&access_token=x', true],
  ['#access_token=x&type=magiclink', false],
  ['#/reports/type=invited', false],
])('%s is the fragment of an invitation: %s', (fragment, invited) => {
  expect(isInvitation(fragment)).toBe(invited);
});

test.each([
  ['#access_token=x&type=magiclink', true, false],
  ['#access_token=x&type=invite', true, false],
  ['#error=access_denied&error_code=otp_expired&error_description=x', false, true],
  ['#/reports/DW-2B3C', false, false],
])('%s: signs in %s, was used %s', (fragment, mailed, used) => {
  expect([isMailedLink(fragment), isUsedLink(fragment)]).toEqual([mailed, used]);
});
