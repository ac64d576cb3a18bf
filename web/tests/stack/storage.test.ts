import { randomUUID } from 'node:crypto';
import { Upload } from 'tus-js-client';
import { afterAll, expect, it } from 'vitest';
import { service, stack, tinyJpeg, visitor } from './stack';

const bucket = 'resources';
const made: string[] = [];
const pdfName = () => {
  const name = `contract-${randomUUID()}.pdf`;
  made.push(name);
  return name;
};
const admin = { apikey: stack.serviceKey, Authorization: `Bearer ${stack.serviceKey}` };
const pdf = Buffer.from(`%PDF-1.7\n${'x'.repeat(2000)}`);

afterAll(async () => {
  const { error } = await service().storage.from(bucket).remove(made);
  expect(error).toBeNull();
});

it('a resumable upload continues after an interruption', async () => {
  const name = pdfName();
  const metadata = { bucketName: bucket, objectName: name, contentType: 'application/pdf' };
  const tus = { ...admin, 'Tus-Resumable': '1.0.0' };
  const created = await fetch(`${stack.url}/storage/v1/upload/resumable`, {
    method: 'POST',
    headers: {
      ...tus,
      'Upload-Length': String(pdf.length),
      'Upload-Metadata': Object.entries(metadata)
        .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
        .join(','),
    },
  });
  expect(created.status).toBe(201);
  const { pathname } = new URL(created.headers.get('location') ?? '');
  expect(pathname).toMatch(/^\/storage\/v1\/upload\/resumable\/[\w-]+$/);

  const send = (from: number, to: number) =>
    fetch(stack.url + pathname, {
      method: 'PATCH',
      headers: { ...tus, 'Upload-Offset': String(from), 'Content-Type': 'application/offset+octet-stream' },
      body: pdf.subarray(from, to),
    });
  expect((await send(0, 1000)).status).toBe(204);
  const asked = await fetch(stack.url + pathname, { method: 'HEAD', headers: tus });
  expect(asked.headers.get('upload-offset')).toBe('1000');
  expect((await send(1000, pdf.length)).status).toBe(204);

  const { data, error } = await visitor().storage.from(bucket).download(name);
  expect(error).toBeNull();
  expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer(0)).equals(pdf)).toBe(true);
});

it('tus-js-client resumes an upload', async () => {
  const name = pdfName();
  const upload = (uploadUrl: string | null, afterChunk: (stop: () => void) => void) =>
    new Promise<string | null>((resolve, reject) => {
      const client = new Upload(pdf, {
        endpoint: `${stack.url}/storage/v1/upload/resumable`,
        uploadUrl,
        headers: admin,
        chunkSize: 1000,
        retryDelays: null,
        metadata: { bucketName: bucket, objectName: name, contentType: 'application/pdf' },
        onError: reject,
        onSuccess: () => resolve(client.url),
        onChunkComplete: () => afterChunk(() => client.abort().then(() => resolve(client.url), reject)),
      });
      client.start();
    });
  let chunks = 0;
  const address = await upload(null, (stop) => {
    chunks++;
    stop();
  });
  await upload(stack.url + new URL(address ?? '').pathname, () => {
    chunks++;
  });
  expect(chunks).toBe(3);

  const { data, error } = await visitor().storage.from(bucket).download(name);
  expect(error).toBeNull();
  expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer(0)).equals(pdf)).toBe(true);
});

it('a signed URL opens a private file until it expires', async () => {
  const name = `${Date.now()}.pdf`;
  const photos = service().storage.from('report-photos');
  const jpeg = `${Date.now()}.jpg`;
  expect((await photos.upload(name, pdf, { contentType: 'application/pdf' })).error).not.toBeNull();
  expect((await photos.upload(jpeg, tinyJpeg, { contentType: 'image/jpeg' })).error).toBeNull();
  const { data } = await photos.createSignedUrl(jpeg, 60);
  const link = new URL(data?.signedUrl ?? '');
  const open = (query: string) => fetch(`${stack.url}${link.pathname}${query}`);
  expect((await open(link.search)).status).toBe(200);
  expect((await open(`${link.search}x`)).status).toBe(400);
  expect((await open('')).status).toBe(400);
  expect((await photos.remove([jpeg])).error).toBeNull();
});

it('the S3 protocol needs a signature', async () => {
  const reply = await fetch(`${stack.url}/storage/v1/s3/${bucket}?list-type=2`, {
    headers: {
      Authorization:
        'AWS4-HMAC-SHA256 Credential=unknown/20260101/local/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=00',
      'X-Amz-Date': '20260101T000000Z',
    },
  });
  expect(reply.status).toBe(403);
  expect(await reply.text()).toContain('<Code>');
});

it('postgres-meta needs the service key', async () => {
  for (const headers of [{}, { apikey: stack.anonKey }]) {
    const reply = await fetch(`${stack.url}/pg/tables`, { headers: headers as Record<string, string> });
    expect([401, 403, 404]).toContain(reply.status);
  }
});
