import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { enterDesk } from './desk';
import { admin, uniqueName } from './stack';

test('a PDF whose upload is cut in the middle goes on where it stopped', async ({ page }) => {
  await enterDesk(page, 'editor');
  const title = uniqueName('Cut');
  await page.getByRole('link', { name: 'Add a resource' }).click();
  await page.getByLabel('Title').first().fill(title);
  await page.getByLabel('Category').first().selectOption('Safety');

  const begun: number[] = []; // the offset of each part
  page.on('request', (r) => r.method() === 'PATCH' && begun.push(Number(r.headers()['upload-offset'])));
  const line = await page.context().newCDPSession(page);
  const conditions = { latency: 20, downloadThroughput: -1, uploadThroughput: 2_000_000 }; // bytes a second
  await line.send('Network.enable');
  await line.send('Network.emulateNetworkConditions', { offline: false, ...conditions });

  const content = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(15_000_000)]);
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'long.pdf', mimeType: 'application/pdf', buffer: content });
  const progress = page.getByRole('progressbar');
  const share = async () => Number(await progress.getAttribute('value'));
  await expect.poll(share, { intervals: [50] }).toBeGreaterThan(0.45); // within the second part
  await line.send('Network.emulateNetworkConditions', { offline: true, ...conditions });
  await expect(page.getByText('The connection is lost.')).toBeVisible();
  expect(await share(), 'the stored part').toBeGreaterThan(0.3);
  await line.send('Network.emulateNetworkConditions', {
    offline: false,
    ...conditions,
    uploadThroughput: -1,
  });
  // Random bytes are no pages: the file is stored without a picture.
  await expect(page.getByText('The file is uploaded. Its first page cannot be drawn')).toBeVisible();

  expect(begun[0]).toBe(0);
  expect(begun.filter((offset) => offset === 0)).toHaveLength(1); // nothing was sent from the beginning again
  expect(Math.min(...begun.slice(2))).toBeGreaterThanOrEqual(6 * 1024 * 1024);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: title })).toBeVisible();
  const { data } = await admin().from('resources').select('id, file_url').eq('title', title).single();
  const stored = await page.request.get(new URL(data?.file_url, process.env.API_URL).href);
  const sum = (b: Buffer) => createHash('sha256').update(b).digest('hex');
  expect(sum(await stored.body())).toBe(sum(content));
  await admin().from('resources').delete().eq('id', data?.id);
});

/** Returns the type, the size and the number of colours of a picture. */
async function pictureAt(page: Page, address: string) {
  const reply = await page.request.get(new URL(address, process.env.API_URL).href);
  const colours = await page.evaluate(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), {
      width: image.width,
      height: image.height,
    });
    const paper = canvas.getContext('2d');
    paper?.drawImage(image, 0, 0);
    return new Set(new Uint32Array(paper?.getImageData(0, 0, image.width, image.height).data.buffer ?? []))
      .size;
  }, address);
  return { type: reply.headers()['content-type'], size: (await reply.body()).length, colours };
}

test('a card gets a picture of the first page: WebP, or PNG where the browser writes none', async ({
  page,
}) => {
  await enterDesk(page, 'editor');
  const title = uniqueName('Pictured');
  await page.getByRole('link', { name: 'Add a resource' }).click();
  await page.getByLabel('Title').first().fill(title);
  await page.getByLabel('Category').first().selectOption('Safety');
  const guide = fileURLToPath(
    new URL('../../../supabase/seed/resources/pain-management.en.pdf', import.meta.url),
  );
  const shown = page.getByRole('article').locator('img');
  for (const type of ['image/webp', 'image/png']) {
    await page.locator('input[type=file]').setInputFiles(guide);
    await expect(shown).toHaveAttribute('src', new RegExp(`${type.split('/')[1]}$`));
    const picture = await pictureAt(page, (await shown.getAttribute('src')) ?? '');
    expect(picture.type).toBe(type);
    expect(picture.size).toBeLessThanOrEqual(12_000);
    expect(picture.colours).toBeGreaterThan(20); // words, not an empty page
    await page.evaluate(() => {
      const whole = HTMLCanvasElement.prototype.toBlob;
      HTMLCanvasElement.prototype.toBlob = function (back) {
        whole.call(this, back, 'image/png');
      };
    });
  }
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: title })).toBeVisible();
  const { data } = await admin().from('resources').select('id, preview_url').eq('title', title).single();
  expect(data?.preview_url).toMatch(/\/pain-management-en-\w+\.png$/);
  await admin().from('resources').delete().eq('id', data?.id);
});

test('an upload that was given up continues when the same file is chosen again', async ({ page }, info) => {
  await enterDesk(page, 'editor');
  await page.getByRole('link', { name: 'Add a resource' }).click();
  const posts: string[] = [];
  page.on('request', (r) => r.method() === 'POST' && r.url().includes('/upload/') && posts.push(r.url()));
  let refuse = true;
  await page.route('**/upload/resumable/**', (route) =>
    refuse && route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  );
  await page.clock.install(); // so that the twelve attempts take no time
  const file = info.outputPath('again.pdf');
  await writeFile(file, '%PDF-1.7\n');
  const created = page.waitForResponse(
    (reply) => reply.request().method() === 'POST' && reply.status() === 201,
  );
  await page.locator('input[type=file]').setInputFiles(file);
  await created; // a request in flight would be given up, too
  await expect(async () => {
    await page.clock.runFor(31_000);
    await expect(page.getByRole('alert')).toContainText('no connection', { timeout: 500 });
  }).toPass();
  refuse = false;
  await page.locator('input[type=file]').setInputFiles(file);
  await expect(page.getByText('The file is uploaded.')).toBeVisible();
  expect(posts).toHaveLength(1);
});
