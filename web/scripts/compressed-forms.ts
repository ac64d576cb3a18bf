import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import type { Plugin } from 'vite';

/** The types that supabase/internal/gateway/site serves compressed, in the folder of files whose content never changes. */
const compressible = /^assets\/.*\.(?:js|mjs|css|json|svg|html|txt|xml|map|webmanifest)$/;

/**
 * Writes the compressed forms NAME.br and NAME.gz beside each file NAME in assets/, so that no server compresses them at
 * its start. The server fills values into all other files, so it compresses those itself.
 */
export function compressedForms(): Plugin {
  return {
    name: 'compressed-forms',
    apply: 'build',
    async writeBundle({ dir }, written) {
      if (!dir) throw new Error('The build has no folder for its files (scripts/compressed-forms.ts)');
      // One after the other: the encoders of all files at once would need a lot of memory.
      for (const name of Object.keys(written)) if (compressible.test(name)) await writeForms(join(dir, name));
    },
  };
}

/** Writes the compressed forms of a file that are smaller than the file. */
export async function writeForms(file: string) {
  const data = await readFile(file);
  const forms = { br: await brotli(data), gz: await promisify(gzip)(data, { level: 9 }) };
  for (const [extension, form] of Object.entries(forms))
    if (form.length < data.length) await writeFile(`${file}.${extension}`, form);
}

function brotli(data: Buffer) {
  return promisify(brotliCompress)(data, {
    params: {
      [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY,
      [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT,
      [zlib.BROTLI_PARAM_SIZE_HINT]: data.length,
      [zlib.BROTLI_PARAM_LGWIN]: windowFor(data.length),
    },
  });
}

/**
 * Returns the size of the smallest window that covers a file, as a power of two. The window is 16 bytes shorter than that
 * (RFC 7932, section 9.1). A larger one makes no file smaller and costs the browser memory.
 */
function windowFor(length: number) {
  const bits = Math.ceil(Math.log2(length + 16));
  return Math.min(Math.max(bits, zlib.BROTLI_MIN_WINDOW_BITS), zlib.BROTLI_MAX_WINDOW_BITS);
}
