import { listStaff } from '@desk/backend/staff';
import { afterEach, expect, test, vi } from 'vitest';
import { message } from './message';

const text = { noReply: 'Try again.', errors: { '42501': 'Not allowed.' } };

afterEach(() => vi.unstubAllGlobals());

test('a request without a reply is told in the language of the page', async () => {
  vi.stubGlobal('WebSocket', class extends EventTarget {}); // Node 20 has none
  vi.stubGlobal('location', { origin: 'http://127.0.0.1:9' });
  vi.stubGlobal('fetch', async (input: string) => {
    if (input === '/site.json') return Response.json({ publishableKey: 'sb_publishable_x' });
    throw new TypeError('NetworkError when attempting to fetch resource.');
  });
  const failure = await listStaff().catch((error) => error);
  expect(message(failure, text)).toBe('Try again.');
});

test('a refusal is told in the language of the page', () => {
  expect(message(Object.assign(new Error('reviewers only'), { code: '42501' }), text)).toBe('Not allowed.');
  expect(message(Object.assign(new Error('odd'), { code: 'XX000' }), text)).toBe('odd');
});

test('other errors stay as they are', () => {
  expect(message(new Error('reviewers only'), text)).toBe('reviewers only');
  expect(message('refused', text)).toBe('refused');
});
