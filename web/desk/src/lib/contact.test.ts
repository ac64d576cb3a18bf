import { expect, test } from 'vitest';
import { smsLink, whatsappLink } from './contact';

test('links carry the number and the whole message', () => {
  const message = 'Salaan. Ma ku wici karnaa? 50% & more';
  const chat = new URL(whatsappLink('+252612345678', message));
  expect([chat.host, chat.pathname, chat.searchParams.get('text')]).toEqual([
    'wa.me',
    '/252612345678',
    message,
  ]);
  const sms = new URL(smsLink('+252612345678', message));
  expect([sms.pathname, sms.searchParams.get('body')]).toEqual(['+252612345678', message]);
});
