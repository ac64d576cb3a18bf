import { noReply } from '@desk/lib/no-reply';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const replies: Record<string, () => Response> = {};

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal('WebSocket', class extends EventTarget {}); // Node 20 has none
  vi.stubGlobal('location', { origin: 'http://127.0.0.1:9' });
  vi.stubGlobal('fetch', async (input: string | URL) => {
    const path = String(input).replace('http://127.0.0.1:9', '');
    const reply = replies[path];
    if (!reply) throw new TypeError('NetworkError when attempting to fetch resource.');
    return reply();
  });
  replies['/site.json'] = () => Response.json({ publishableKey: 'sb_publishable_x' });
});
afterEach(() => {
  vi.unstubAllGlobals();
  for (const path of Object.keys(replies)) delete replies[path];
});

test('the client is made again after a failure, and once', async () => {
  const { supabase } = await import('./client');
  const found = replies['/site.json'] as () => Response;
  delete replies['/site.json'];
  await expect(supabase()).rejects.toThrow(noReply);
  replies['/site.json'] = () => new Response('', { status: 503 });
  await expect(supabase()).rejects.toThrow('/site.json answered 503');
  replies['/site.json'] = found;
  expect(await supabase()).toBe(await supabase());
});

test('an error of a function has the message and the code of its reply', async () => {
  const { invoke } = await import('./client');
  const path = '/functions/v1/system';
  replies[path] = () => Response.json({ message: 'owners only', code: '42501' }, { status: 403 });
  await expect(invoke('system', {})).rejects.toMatchObject({ message: 'owners only', code: '42501' });
  replies[path] = () => new Response('<h1>Bad gateway</h1>', { status: 502 });
  await expect(invoke('system', {})).rejects.toMatchObject({ name: 'ApiError', code: '' });
  replies[path] = () => Response.json({ mailed: true });
  expect(await invoke('system', {})).toEqual({ mailed: true });
});

test('an error of the database has its message and code', async () => {
  const { rpc } = await import('./client');
  const path = '/rest/v1/rpc/read_report';
  replies[path] = () => Response.json({ message: 'no such report', code: 'PT404' }, { status: 404 });
  await expect(rpc('read_report', { name: 'DW-2B3C' })).rejects.toMatchObject({
    message: 'no such report',
    code: 'PT404',
  });
});

test('a reply that the client library does not know is named by its code', async () => {
  const { check } = await import('./client');
  expect(() => check({ message: '{}', code: 'bad_gateway' })).toThrow('bad_gateway');
  expect(() => check({ message: '{}' })).toThrow('unexpected reply');
  expect(() => check({ message: '{}', status: 504 })).toThrow('request_timeout');
  expect(() => check({ message: '{}', status: 500 })).toThrow('unexpected_failure');
  expect(() => check(null)).not.toThrow();
});
