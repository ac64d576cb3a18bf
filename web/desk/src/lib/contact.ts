/** The ways in which a member and a person reach each other. */
export const channels = ['call', 'whatsapp', 'voice', 'sms', 'visit', 'other'] as const;
export type Channel = (typeof channels)[number];

/** What came of an attempt to reach a person. */
export const contactOutcomes = [
  'reached',
  'no_answer',
  'call_later',
  'wrong_number',
  'declined',
  'sent',
] as const;
export type ContactOutcome = (typeof contactOutcomes)[number];

/** Returns the address that opens a chat in WhatsApp with a message, which the member still has to send. */
export const whatsappLink = (number: string, message: string) =>
  `https://wa.me/${number.slice(1)}?text=${encodeURIComponent(message)}`;

/** Returns the address that opens a text message, which the member still has to send. */
export const smsLink = (number: string, message: string) =>
  `sms:${number}?body=${encodeURIComponent(message)}`;
