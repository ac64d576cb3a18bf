/**
 * Prints the guides of the built site (npm run build) on A4 for the resources of a new installation. Writes
 * supabase/seed/resources/<slug>.<language>.pdf, a small picture of each as .webp, and their sizes in supabase/seed.sql. The same site, fonts and Chromium
 * give the same bytes.
 *
 *   node scripts/print-guides.mjs [--dist web/dist] [--seed supabase]
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dist, roots, withPage } from './built-site.mjs';

const { values } = parseArgs({
  options: {
    dist: { type: 'string', default: dist },
    seed: { type: 'string', default: fileURLToPath(new URL('../../supabase', import.meta.url)) },
  },
});
const folder = join(values.seed, 'seed', 'resources');
const seedFile = join(values.seed, 'seed.sql');
const largest = 150_000; // bytes
const largestPreview = 12_000; // bytes

await withPage(values.dist, { javaScriptEnabled: false }, async (page, show) => {
  await mkdir(folder, { recursive: true });
  let seed = await readFile(seedFile, 'utf8');
  for (const [language, root] of Object.entries(roots)) {
    const learn = join(root, 'learn');
    const entries = await readdir(join(values.dist, learn), { withFileTypes: true });
    for (const { name: slug } of entries.filter((entry) => entry.isDirectory())) {
      await show(join(learn, slug));
      const text = await page.locator('article').textContent();
      const printed = withFixedTime(await page.pdf({ preferCSSPageSize: true, tagged: true, outline: true }));
      const pdf = Buffer.concat([printed, textHash(text)]);
      const name = `${slug}.${language}.pdf`;
      const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length;
      if (!(pages <= 2)) throw new Error(`${name} has ${pages} pages, more than a sheet of paper`);
      if (pdf.length > largest) throw new Error(`${name} has ${pdf.length} bytes, more than ${largest}`);
      await writeFile(join(folder, name), pdf);
      const picture = await preview(page);
      if (picture.length > largestPreview)
        throw new Error(`the picture of ${name} has ${picture.length} bytes`);
      await writeFile(join(folder, `${slug}.${language}.webp`), picture);
      seed = seed.replace(new RegExp(`(/${name}', )\\d+`), `$1${pdf.length}`);
      console.log(`${name} ${pdf.length}`);
    }
  }
  await writeFile(seedFile, seed);
});

/** Draws the sheet that the page prints, with its margins, as wide as two pixels per pixel of the list's picture. */
async function preview(page) {
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 718, height: 1062 }); // 190 by 281 mm
  const sheet = (await page.screenshot()).toString('base64');
  await page.emulateMedia({ media: null });
  const address = await page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 226 });
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 8, 6, 144, 214);
    return canvas.toDataURL('image/webp', 0.8);
  }, sheet);
  return Buffer.from(address.split(',')[1], 'base64');
}

/** Replaces the time of printing with a fixed one of the same length, which keeps the offsets of the PDF. */
function withFixedTime(pdf) {
  const text = pdf.toString('latin1').replace(/\(D:\d{14}\+00'00'\)/g, "(D:20261121000000+00'00')");
  return Buffer.from(text, 'latin1');
}

/** Returns a comment with a hash of the page's text, by which a test checks that the PDF and the page agree. */
function textHash(text) {
  return Buffer.from(`%words sha256:${createHash('sha256').update(text).digest('hex')}\n`);
}
