import { message } from '@desk/components/message';
import type { Text } from '@desk/i18n/en';

/** Returns an error of a sign-in in the reader's words. */
export function signInError(error: unknown, text: Text) {
  switch ((error as { code?: string }).code) {
    case 'invalid_credentials':
      return text.signIn.wrong;
    case 'otp_expired':
      return text.signIn.wrongCode;
    case 'over_email_send_rate_limit':
      return text.signIn.tooSoon;
    default:
      return message(error, text);
  }
}
