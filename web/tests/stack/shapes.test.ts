import { expect, it } from 'vitest';
import { stack } from './stack';

const anon = { apikey: stack.anonKey, Authorization: `Bearer ${stack.anonKey}` };

async function ask(path: string, init: RequestInit = {}) {
  const reply = await fetch(stack.url + path, { ...init, headers: { ...anon, ...init.headers } });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, body: text ? JSON.parse(text) : null };
}

const keys = (value: object) => Object.keys(value).sort();

it('rest: an unknown table', async () => {
  const { status, body } = await ask('/rest/v1/no_such_table');
  expect(status).toBe(404);
  expect(keys(body)).toEqual(['code', 'details', 'hint', 'message']);
  expect(body.code).toBe('PGRST205');
});

it('rest: an unknown column', async () => {
  const { status, body } = await ask('/rest/v1/resources?select=no_such_column');
  expect([status, body.code]).toEqual([400, '42703']);
});

it('rest: an invalid filter', async () => {
  const { status, body } = await ask('/rest/v1/resources?id=nonsense.1');
  expect([status, body.code]).toEqual([400, 'PGRST100']);
});

it('rest: a missing single row', async () => {
  const { status, body } = await ask('/rest/v1/resources?title=eq.nothing', {
    headers: { Accept: 'application/vnd.pgrst.object+json' },
  });
  expect([status, body.code]).toEqual([406, 'PGRST116']);
});

it('rest: a range with its count', async () => {
  const { status, headers } = await ask('/rest/v1/resources?select=id', {
    headers: { Prefer: 'count=exact', Range: '0-1' },
  });
  expect(status).toBe(206);
  expect(headers.get('content-range')).toMatch(/^0-1\/\d+$/);
});

it('rest: a forged token', async () => {
  const { status, body } = await ask('/rest/v1/resources', {
    headers: { Authorization: `Bearer ${stack.anonKey.slice(0, -2)}xx` },
  });
  expect(status).toBe(401);
  expect(body.code).toBe('PGRST301');
});

it('auth: both error shapes', async () => {
  const wrong = { method: 'POST', body: JSON.stringify({ email: 'unknown@example.org', password: 'wrong' }) };
  const path = '/auth/v1/token?grant_type=password';
  const old = await ask(path, { ...wrong, headers: { 'Content-Type': 'application/json' } });
  expect([old.status, old.body.code, old.body.error_code]).toEqual([400, 400, 'invalid_credentials']);
  const current = await ask(path, {
    ...wrong,
    headers: { 'Content-Type': 'application/json', 'X-Supabase-Api-Version': '2024-01-01' },
  });
  expect([current.status, current.body.code]).toEqual([400, 'invalid_credentials']);
  expect(current.headers.get('x-supabase-api-version')).toBe('2024-01-01');
});

it('auth: the settings', async () => {
  const { status, body } = await ask('/auth/v1/settings');
  expect(status).toBe(200);
  expect(body).toHaveProperty('external.email');
  expect(body).toHaveProperty('disable_signup');
});

it('storage: a missing object has status 400 and statusCode 404', async () => {
  const { status, body } = await ask('/storage/v1/object/public/resources/no-such-file.pdf');
  expect(status).toBe(400);
  expect(body).toMatchObject({ statusCode: '404', error: 'not_found' });
});

it('storage: an anonymous list is empty', async () => {
  const { status, body } = await ask('/storage/v1/object/list/report-photos', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ prefix: '' }),
  });
  expect([status, body]).toEqual([200, []]);
});

it('functions: an unknown name', async () => {
  const { status } = await ask('/functions/v1/no-such-function', { method: 'POST' });
  expect(status).toBe(404);
});
