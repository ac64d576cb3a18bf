import { randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ws from 'ws';
import { IdentityProvider } from './identity-provider';
import { stack, visitor } from './stack';

const settings = await fetch(`${stack.url}/auth/v1/settings`, { headers: { apikey: stack.anonKey } });
const { saml_enabled: enabled } = (await settings.json()) as { saml_enabled: boolean };

// A stack has SAML off by default.
describe.runIf(enabled)('signInWithSSO', () => {
  const provider = new IdentityProvider();
  const domain = `${randomUUID()}.example`;
  const path = `${stack.url}/auth/v1/admin/sso/providers`;
  const headers = {
    apikey: stack.serviceKey,
    Authorization: `Bearer ${stack.serviceKey}`,
    'Content-Type': 'application/json',
  };
  let id = '';

  beforeAll(async () => {
    const body = { type: 'saml', metadata_xml: provider.metadata(), domains: [domain] };
    const reply = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(reply.status).toBe(201);
    id = ((await reply.json()) as { id: string }).id;
  });

  afterAll(async () => {
    await fetch(`${path}/${id}`, { method: 'DELETE', headers });
  });

  /** Signs in at the provider, as the browser does, and returns where it is sent then. */
  async function throughProvider(url: string, email: string): Promise<URL> {
    const { action, form } = provider.answer(url, email);
    // The address in the request is the public one; the tests may reach the stack by another.
    const target = new URL(new URL(action).pathname, stack.url);
    const reply = await fetch(target, { method: 'POST', body: form, redirect: 'manual' });
    expect(reply.status).toBe(302);
    return new URL(reply.headers.get('Location') ?? '');
  }

  it('returns tokens by domain', async () => {
    const client = visitor();
    const { data, error } = await client.auth.signInWithSSO({ domain });
    expect(error).toBeNull();
    const email = `${randomUUID()}@${domain}`;
    const { hash } = await throughProvider(data?.url ?? '', email);
    const tokens = new URLSearchParams(hash.slice(1));
    const session = await client.auth.setSession({
      access_token: tokens.get('access_token') ?? '',
      refresh_token: tokens.get('refresh_token') ?? '',
    });
    expect(session.error).toBeNull();
    expect(session.data.user).toMatchObject({ email, app_metadata: { provider: `sso:${id}` } });
  });

  it('returns a code with PKCE, by the id of the provider', async () => {
    const kept = new Map<string, string>();
    const client = createClient(stack.url, stack.anonKey, {
      auth: {
        flowType: 'pkce',
        autoRefreshToken: false,
        storage: {
          getItem: (name: string) => kept.get(name) ?? null,
          setItem: (name: string, value: string) => void kept.set(name, value),
          removeItem: (name: string) => void kept.delete(name),
        },
      },
      realtime: { transport: ws as unknown as typeof WebSocket },
    });
    const { data, error } = await client.auth.signInWithSSO({ providerId: id });
    expect(error).toBeNull();
    const email = `${randomUUID()}@${domain}`;
    const { searchParams } = await throughProvider(data?.url ?? '', email);
    const session = await client.auth.exchangeCodeForSession(searchParams.get('code') ?? '');
    expect(session.error).toBeNull();
    expect(session.data.user?.email).toBe(email);
  });

  it('names an unknown domain', async () => {
    const { error } = await visitor().auth.signInWithSSO({ domain: 'none.example' });
    expect(error).toMatchObject({ status: 404, code: 'sso_provider_not_found' });
  });
});
