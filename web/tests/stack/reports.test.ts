import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { photoName, report, service, signedIn, stack, tinyJpeg, visitor } from './stack';

const submit = (body: object, key: string = randomUUID()) =>
  visitor().functions.invoke('submit-report', { body, headers: { 'Idempotency-Key': key } });

async function stored(productName: string) {
  const { data, error } = await service().from('reports').select().eq('product_name', productName);
  if (error) throw error;
  return data;
}

describe('a report', () => {
  it('is stored with its photo and a reference', async () => {
    const photo = photoName();
    const upload = await visitor()
      .storage.from('report-photos')
      .upload(photo, tinyJpeg, { contentType: 'image/jpeg' });
    expect(upload.error).toBeNull();

    const body = report({ photo_url: photo });
    const { data, error } = await submit(body);
    expect(error).toBeNull();
    expect(data.reference).toMatch(/^DW-[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    expect(Date.parse(data.received_at)).toBeGreaterThan(0);

    const rows = await stored(body.product_name);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      id: data.id,
      reference: data.reference,
      status: 'new',
      location: 'Banaadir, Hodan',
    });
    expect(rows[0].photo_url).toBe(photo);
  });

  it('is stored once when the client retries with its key', async () => {
    const body = report();
    const key = randomUUID();
    const [first, second] = [await submit(body, key), await submit(body, key)];
    expect(first.error).toBeNull();
    expect(second.data).toEqual(first.data);
    expect(await stored(body.product_name)).toHaveLength(1);
  });

  it('is stored once for twenty concurrent retries', async () => {
    const body = report();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => submit(body, key)));
    expect(new Set(replies.map(({ data }) => data?.reference)).size).toBe(1);
    expect(await stored(body.product_name)).toHaveLength(1);
  });
});

describe('a report with unusual content', () => {
  it('is refused with the key of another report', async () => {
    const key = randomUUID();
    expect((await submit(report(), key)).error).toBeNull();
    const { error } = await submit(report(), key);
    expect(error?.context.status).toBe(422);
  });

  it('without a required field is refused in the language of the request', async () => {
    const body = report({ product_name: '', issue_description: ' ' });
    const { error } = await submit(body);
    expect(error?.context.status).toBe(400);
    expect(error?.context.headers.get('content-language')).toBe('en'); // the site shows only messages with this header
    const reply = await error?.context.json();
    expect(reply.fields).toMatchObject({
      product_name: 'Product name is required',
      issue_description: 'Problem description is required',
    });
  });

  it.each([['2027-02-30'], ['31-01-2027'], ['soon']])(
    'with the expiry date %s is refused',
    async (expiry_date) => {
      const { error } = await submit(report({ expiry_date }));
      expect(error?.context.status).toBe(400);
    },
  );

  it.each([
    ['٠٨/٢٠٢٦', '2026-08-31'],
    ['31.8.2026', '2026-08-31'],
  ])('from the plain form with the expiry date %s is stored', async (typed, stored_date) => {
    const { product_name, issue_description, location } = report();
    const fields = {
      product_name,
      issue_description,
      location,
      country: '252',
      phone: '٦١٢٣٤٥٦٧٨',
      expiry_date: typed,
    };
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const reply = await fetch(`${stack.url}/functions/v1/submit-report`, {
      method: 'POST',
      body,
      redirect: 'manual',
    });
    expect(reply.status).toBe(303);
    const [row] = await stored(product_name);
    expect(row).toMatchObject({
      expiry_date: stored_date,
      phone: '+252 612345678',
      phone_e164: '+252612345678',
    });
  });

  it('is stored without a photo that does not exist', async () => {
    const body = report({ photo_url: photoName() });
    const { error } = await submit(body);
    expect(error).toBeNull();
    expect((await stored(body.product_name))[0].photo_url).toBeNull();
  });
});

describe('reports and photos', () => {
  it.each([
    ['visitors', async () => visitor()],
    ['signed-in users', signedIn],
  ])('are not accessible to %s', async (_, connect) => {
    const client = await connect();
    const photo = photoName();
    await visitor().storage.from('report-photos').upload(photo, tinyJpeg, { contentType: 'image/jpeg' });

    for (const reply of [
      await client.from('reports').select(),
      await client.from('reports').select('*', { count: 'exact', head: true }),
      await client.from('reports').insert(report()),
      await client.from('reports').delete().neq('status', 'closed'),
      await client.rpc('track_download', { resource_id: randomUUID() }),
    ]) {
      expect(reply.status, JSON.stringify(reply)).toBeGreaterThanOrEqual(400);
      expect(reply.data).toBeNull();
    }
    // Staff are signed-in users, so the table accepts an update. Row level security leaves it no row.
    const { count } = await client
      .from('reports')
      .update({ status: 'closed' }, { count: 'exact' })
      .neq('status', 'closed');
    expect(count ?? 0).toBe(0);
    const photos = client.storage.from('report-photos');
    expect((await photos.list()).data ?? []).toEqual([]);
    expect((await photos.download(photo)).error).not.toBeNull();
    expect((await photos.createSignedUrl(photo, 60)).error).not.toBeNull();
    expect((await photos.remove([photo])).data ?? []).toEqual([]);
    expect(
      (await photos.upload(photo, tinyJpeg, { upsert: true, contentType: 'image/jpeg' })).error,
    ).not.toBeNull();
  });

  it.each([
    ['another file name', 'evidence.jpg', 'image/jpeg'],
    ['a folder', `x/${photoName()}`, 'image/jpeg'],
    ['an SVG', photoName().replace('jpg', 'svg'), 'image/svg+xml'],
    ['a document', photoName().replace('jpg', 'pdf'), 'application/pdf'],
  ])('refuse %s', async (_, name, contentType) => {
    const { error } = await visitor().storage.from('report-photos').upload(name, tinyJpeg, { contentType });
    expect(error).not.toBeNull();
  });

  it('refuse photos over 5 MB', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024 + 1, 1);
    const { error } = await visitor()
      .storage.from('report-photos')
      .upload(photoName(), large, { contentType: 'image/jpeg' });
    expect(error?.message).toMatch(/exceeded the maximum allowed size/);
  });
});
