/** The message of a request without a reply. Browsers have different texts for it. */
export const noReply = 'no reply from the server';
