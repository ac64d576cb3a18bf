import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { service, stack, visitor } from './stack';

const listed = () =>
  visitor().from('resources').select('*').eq('is_active', true).order('created_at', { ascending: false });

it('lists active resources only, newest first', async () => {
  const { data, error } = await listed();
  expect(error).toBeNull();
  expect(data?.length).toBeGreaterThanOrEqual(4);
  expect(data?.every((resource) => resource.is_active)).toBe(true);
  const times = data?.map((resource) => Date.parse(resource.created_at)) ?? [];
  expect(times).toEqual([...times].sort((a, b) => b - a));

  const everything = await visitor().from('resources').select('id, is_active');
  expect(everything.data?.every((resource) => resource.is_active)).toBe(true);
});

it('has featured, coming and inactive resources', async () => {
  const { data } = await listed();
  expect(data?.filter((resource) => resource.is_featured).length).toBeGreaterThanOrEqual(2);
  expect(data?.some((resource) => resource.file_url === '#')).toBe(true);
  const inactive = await service().from('resources').select('id').eq('is_active', false);
  expect(inactive.data?.length).toBeGreaterThanOrEqual(1);
});

it('serves a PDF of the size in the table', async () => {
  const { data } = await listed();
  for (const resource of data?.filter((r) => r.file_url !== '#') ?? []) {
    const reply = await fetch(new URL(resource.file_url, stack.url));
    const body = Buffer.from(await reply.arrayBuffer());
    expect(reply.status, resource.file_url).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/pdf');
    expect(body.subarray(0, 5).toString()).toBe('%PDF-');
    expect(body.length).toBe(resource.file_size);
  }
});

it('counts twenty concurrent downloads', async () => {
  const { data } = await listed();
  const { id } = data?.[0] ?? {};
  const count = async () =>
    (await visitor().from('resources').select('download_count').eq('id', id).single()).data?.download_count;
  const before = await count();
  const replies = await Promise.all(
    Array.from({ length: 20 }, () =>
      visitor().functions.invoke('track-download', { body: { resourceId: id } }),
    ),
  );
  expect(replies.map(({ error }) => error)).toEqual(replies.map(() => null));
  expect(await count()).toBe(before + 20);
});

it('replies 404 for an unknown resource', async () => {
  const { error } = await visitor().functions.invoke('track-download', {
    body: { resourceId: randomUUID() },
  });
  expect(error?.context.status).toBe(404);
});

it('refuses writes of visitors', async () => {
  const { data } = await listed();
  const id = data?.[0]?.id;
  expect((await visitor().from('resources').update({ title: 'x' }).eq('id', id)).error).not.toBeNull();
  expect((await visitor().from('resources').delete().eq('id', id)).error).not.toBeNull();
  expect((await visitor().from('resources').insert({ title: 'x' })).error).not.toBeNull();
});
