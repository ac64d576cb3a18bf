/**
 * Draws the social images (1200 × 630) from the built site (npm run build): the heading and the drawing of each page,
 * in public/social/<name>-<language>.png (page-meta.tsx).
 *
 *   node scripts/draw-social-images.mjs [--dist web/dist]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dist, roots, withPage } from './built-site.mjs';

const { values } = parseArgs({ options: { dist: { type: 'string', default: dist } } });
const folder = fileURLToPath(new URL('../public/social', import.meta.url));

/** Name of the image → path of the page, and of a second page for the drawing if the first has none. */
const pictures = {
  home: [''],
  about: ['about'],
  learn: ['learn'],
  'women-health': ['women-health'],
  report: ['report', 'learn/how-to-read-labels'],
  resources: ['resources', 'learn'],
  contact: ['contact'],
  'how-to-read-labels': ['learn/how-to-read-labels'],
  'antibiotics-guide': ['learn/antibiotics-guide'],
  'skin-cream-dangers': ['learn/skin-cream-dangers'],
  'pregnancy-medicine': ['learn/pregnancy-medicine'],
  'expired-medicines': ['learn/expired-medicines'],
  'pain-management': ['learn/pain-management'],
};

const look = { viewport: { width: 1200, height: 630 }, colorScheme: 'light' };
await withPage(values.dist, look, async (page, show) => {
  await mkdir(folder, { recursive: true });
  for (const [language, root] of Object.entries(roots)) {
    for (const [name, [path, drawn = path]] of Object.entries(pictures)) {
      await show(join(root, path));
      const heading = await page.locator('h1').textContent();
      await show(join(root, drawn));
      await page.evaluate(showCard, heading);
      await page.screenshot({ path: join(folder, `${name}-${language}.png`) });
    }
  }
});

/** Runs in the page. Leaves only the heading, the drawing, the name of the site and the alindi stripe. */
function showCard(title) {
  const style = (element, css) => {
    element.setAttribute('style', css);
    return element;
  };
  const heading = document.querySelector('h1');
  heading.textContent = title;
  const drawing = document.querySelector('main svg[viewBox$=" 120"], main svg[viewBox$=" 200"]');
  const name = document.querySelector('header a[href]');
  const stripe = document.querySelector('.alindi');
  const words = style(document.createElement('div'), 'flex:1');
  words.append(
    style(name, 'font-size:40px;zoom:1.6;margin-bottom:12px'),
    style(heading, 'font-size:64px;line-height:1.15;text-wrap:balance'),
  );
  document.body.replaceChildren(
    style(stripe, 'position:absolute;inset:auto 0 0 0;height:24px'),
    words,
    style(drawing, 'width:440px;flex:none'),
  );
  style(document.body, 'display:flex;align-items:center;gap:48px;height:630px;padding:0 72px 24px');
}
