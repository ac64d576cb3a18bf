import { en } from '@desk/i18n/en';
import { so } from '@desk/i18n/so';
import { noReply } from '@desk/lib/no-reply';
import { expect, test } from 'vitest';
import { signInError } from './sign-in-error';

const refused = (code: string) => Object.assign(new Error('refused'), { code });

test.each([
  ['invalid_credentials', en.signIn.wrong, so.signIn.wrong],
  ['otp_expired', en.signIn.wrongCode, so.signIn.wrongCode],
  ['over_email_send_rate_limit', en.signIn.tooSoon, so.signIn.tooSoon],
  ['other', 'refused', 'refused'],
])('%s', (code, english, somali) => {
  expect(signInError(refused(code), en)).toBe(english);
  expect(signInError(refused(code), so)).toBe(somali);
});

test('no reply', () => {
  expect(signInError(new TypeError(noReply), so)).toBe(so.noReply);
});
