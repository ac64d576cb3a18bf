import { describe, expect, it } from 'vitest';
import { stack, visitor } from './stack';

const call = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(stack.url + path, { ...init, headers, redirect: 'manual' });
const anon = { apikey: stack.anonKey };
const admin = { apikey: stack.serviceKey, Authorization: `Bearer ${stack.serviceKey}` };

describe('API keys', () => {
  // auth-js reads JSON.
  it.each([
    ['/rest/v1/resources', /^Unauthorized$/],
    ['/auth/v1/settings', /^\{"message":"(Invalid API key|No API key found in request)","hint":"[^"]+"\}$/],
  ])('%s needs one', async (path, refusal) => {
    for (const headers of [{}, { apikey: 'wrong' }, { apikey: `${stack.anonKey}x` }]) {
      const reply = await call(path, headers as Record<string, string>);
      expect(reply.status).toBe(401);
      expect((await reply.text()).trim()).toMatch(refusal);
    }
    expect((await call(path, anon)).status).toBe(200);
    expect((await call(`${path}?apikey=${stack.anonKey}`)).status).toBe(200);
  });

  it('are not needed for sign-in links and key sets', async () => {
    expect((await call('/auth/v1/.well-known/jwks.json')).status).toBe(200);
    expect((await call('/auth/v1/verify')).status).not.toBe(401);
  });

  it('other than the service key cannot read the API description', async () => {
    expect((await call('/rest/v1/', anon)).status).toBeGreaterThanOrEqual(401);
    const reply = await call('/rest/v1/', admin);
    expect(reply.status).toBe(200);
    expect((await reply.json()).swagger).toBe('2.0');
  });

  it.runIf(stack.publishableKey)('may be publishable and secret keys', async () => {
    const { data, error } = await visitor(stack.publishableKey).from('resources').select('id').limit(1);
    expect(error).toBeNull();
    expect(data).toHaveLength(1);
    const reports = await call('/rest/v1/reports?select=id&limit=1', { apikey: stack.secretKey });
    expect(reports.status).toBe(200);
    expect(
      (await call('/rest/v1/reports?select=id&limit=1', { apikey: stack.publishableKey })).status,
    ).toBeGreaterThanOrEqual(401);
  });

  it.runIf(stack.publishableKey)(
    'that are invalid or contradict each other are refused by functions',
    async () => {
      const invalid = await call(
        '/functions/v1/track-download',
        { apikey: 'sb_publishable_wrong' },
        { method: 'POST' },
      );
      expect(invalid.status).toBe(401);
      expect(await invalid.text()).toContain('Invalid API key');
      const two = { apikey: stack.publishableKey, Authorization: `Bearer ${stack.secretKey}` };
      const conflict = await call('/functions/v1/track-download', two, { method: 'POST' });
      expect(conflict.status).toBe(401);
      expect(await conflict.text()).toContain('Conflicting API keys');
    },
  );
});

describe('CORS', () => {
  it.each([
    '/rest/v1/resources',
    '/auth/v1/token',
    '/storage/v1/object/report-photos/1.jpg',
    '/functions/v1/submit-report',
  ])('another origin may request %s', async (path) => {
    const reply = await call(
      path,
      {
        Origin: 'https://elsewhere.example.org',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'apikey, authorization, x-client-info, content-type',
      },
      { method: 'OPTIONS' },
    );
    expect(reply.status).toBeLessThan(300);
    expect(reply.headers.get('access-control-allow-origin')).toMatch(/^\*$|elsewhere\.example\.org$/);
    expect(reply.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('apikey');
  });

  it('replies name an origin once', async () => {
    const reply = await call('/rest/v1/resources?select=id', {
      ...anon,
      Origin: 'https://elsewhere.example.org',
    });
    expect(reply.headers.get('access-control-allow-origin')).not.toContain(',');
  });
});

describe('missing services and pages', () => {
  it.each(['/graphql/v1', '/realtime/v1/websocket'])('%s is a JSON error', async (path) => {
    const reply = await call(path, anon);
    // A stack with pg_graphql or Realtime replies itself.
    if (reply.status !== 404) return;
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect((await reply.json()).message).toBeTruthy();
  });

  it.each([
    ['/no-such-page/', 'Oops! Page not found'],
    ['/learn/no-such-guide/', 'The guide you'],
  ])('%s is a page with status 404', async (path, text) => {
    const reply = await call(path, { 'Accept-Encoding': 'identity' });
    expect(reply.status).toBe(404);
    expect(await reply.text()).toContain(text);
    expect((await call(`/so${path}`)).status).toBe(404);
  });
});

describe('the site', () => {
  it.each([
    ['/about', '/about/'],
    ['/so', '/so/'],
    ['/so/learn?from=mail', '/so/learn/?from=mail'],
  ])('%s redirects to %s', async (from, to) => {
    const reply = await call(from);
    expect(reply.status).toBe(308);
    expect(
      new URL(reply.headers.get('location') ?? '', stack.url).pathname +
        new URL(reply.headers.get('location') ?? '', stack.url).search,
    ).toBe(to);
  });

  it('redirects to no other host', async () => {
    for (const path of [
      '//evil.example.org',
      '//evil.example.org/',
      '/%2f%2fevil.example.org',
      '/\\evil.example.org',
      '/so//evil.example.org',
    ]) {
      const target = (await call(path)).headers.get('location');
      if (target) expect(new URL(target, stack.url).origin, path).toBe(new URL(stack.url).origin);
    }
  });

  it('has the address of the backend in site.json', async () => {
    const reply = await call('/site.json');
    expect(reply.headers.get('cache-control')).toContain('no-store');
    const site = await reply.json();
    expect(new URL(site.url).protocol).toMatch(/^https?:$/);
    expect(site.publishableKey).toBeTruthy();
    expect(JSON.stringify(site)).not.toContain(stack.serviceKey);
  });

  it('replies 304 for an unchanged page', async () => {
    const first = await call('/about/');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    expect((await call('/about/', { 'If-None-Match': etag })).status).toBe(304);
  });

  it.each(['/', '/so/report/', '/no-such-page/', '/site.json', '/rest/v1/resources'])(
    '%s has the security headers',
    async (path) => {
      const reply = await call(path);
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      expect(reply.headers.get('referrer-policy')).toBeTruthy();
      if (reply.headers.get('content-type')?.startsWith('text/html')) {
        const policy = reply.headers.get('content-security-policy') ?? '';
        expect(policy).toMatch(/default-src '(none|self)'/);
        expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline/);
      }
    },
  );
});
