import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { stack } from './stack';

const anon = { apikey: stack.anonKey, Authorization: `Bearer ${stack.anonKey}` };

it('functions: the OpenAPI document is valid', async () => {
  const reply = await fetch(`${stack.url}/functions/v1/_openapi.json`, { headers: anon });
  const document = await reply.json();
  const { valid, errors } = await new Validator().validate(document);
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(Object.keys(document.paths)).toContain('/track-download');
});

it('functions: the OpenAPI document needs a key', async () => {
  expect((await fetch(`${stack.url}/functions/v1/_openapi.json`)).status).toBe(401);
});
