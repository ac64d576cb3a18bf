import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeForms } from './compressed-forms';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compressed-forms-'));
});
afterAll(() => rm(folder, { recursive: true }));

const words = (count: number) =>
  Array.from({ length: count }, (_, i) => `const part${i} = ${i * 7};`).join('\n');

/** Sizes around those at which the window grows: 2^n - 16 bytes. */
const texts = {
  'short.js': words(20),
  'long.css': words(9000),
  'window.js': words(9000).slice(0, 2 ** 16 - 16),
  'window-and-one.js': words(9000).slice(0, 2 ** 16 - 15),
};

it.each(Object.entries(texts))(
  'writes forms of %s that are smaller, decode to it and never differ',
  async (name, text) => {
    const file = join(folder, name);
    await writeFile(file, text);
    for (const [extension, decode] of [['br', brotliDecompressSync] as const, ['gz', gunzipSync] as const]) {
      await writeForms(file);
      const form = await readFile(`${file}.${extension}`);
      expect(form.length).toBeLessThan(text.length);
      expect(decode(form).toString()).toBe(text);
      await writeForms(file);
      expect(await readFile(`${file}.${extension}`)).toEqual(form);
    }
  },
);

it('writes no form that is not smaller', async () => {
  for (const [name, data] of Object.entries({
    'empty.js': '',
    'tiny.js': 'x()',
    'noise.js': randomBytes(5000),
  })) {
    await writeFile(join(folder, name), data);
    await writeForms(join(folder, name));
    expect((await readdir(folder)).filter((each) => each.startsWith(name))).toEqual([name]);
  }
});
