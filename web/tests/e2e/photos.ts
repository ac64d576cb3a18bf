import type { Page } from '@playwright/test';

/** Returns a JPEG of noise from the browser. Noise compresses badly, so it is as large as a photograph. */
export async function jpeg(page: Page, width: number, height: number): Promise<Buffer> {
  const base64 = await page.evaluate(
    async ([width, height]) => {
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const context = canvas.getContext('2d');
      const pixels = context?.createImageData(width, height);
      if (!context || !pixels) throw new Error('no canvas');
      let seed = 1;
      for (let i = 0; i < pixels.data.length; i++) {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        pixels.data[i] = i % 4 === 3 ? 255 : 96 + ((seed >> 8) % 64);
      }
      context.putImageData(pixels, 0, 0);
      return canvas.toDataURL('image/jpeg', 0.95).split(',')[1] ?? '';
    },
    [width, height] as const,
  );
  return Buffer.from(base64, 'base64');
}

/** Returns a small picture in a format. */
export async function drawn(page: Page, type: 'image/png' | 'image/webp'): Promise<Buffer> {
  const base64 = await page.evaluate((type) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 30 });
    canvas.getContext('2d')?.fillRect(0, 0, 20, 20);
    return canvas.toDataURL(type).split(',')[1] ?? '';
  }, type);
  return Buffer.from(base64, 'base64');
}

/** Returns the picture with an EXIF segment that has GPS data, as from a phone. */
export function withPlace(picture: Buffer): Buffer {
  const tiff = Buffer.alloc(26 + 18 + 24);
  tiff.write('II*\0', 0, 'latin1');
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(1, 8); // IFD0: one entry, the pointer to the GPS directory
  entry(tiff, 10, 0x8825, 4, 1, 26);
  tiff.writeUInt32LE(0, 22);
  tiff.writeUInt16LE(1, 26); // GPS: latitude, three rationals
  entry(tiff, 28, 0x0002, 5, 3, 44);
  tiff.writeUInt32LE(0, 40);
  for (const [i, value] of [2, 2, 11].entries()) {
    tiff.writeUInt32LE(value, 44 + i * 8);
    tiff.writeUInt32LE(1, 48 + i * 8);
  }
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(exif.length + 2, 2);
  return Buffer.concat([picture.subarray(0, 2), head, exif, picture.subarray(2)]);
}

function entry(tiff: Buffer, at: number, tag: number, type: number, count: number, value: number) {
  tiff.writeUInt16LE(tag, at);
  tiff.writeUInt16LE(type, at + 2);
  tiff.writeUInt32LE(count, at + 4);
  tiff.writeUInt32LE(value, at + 8);
}
