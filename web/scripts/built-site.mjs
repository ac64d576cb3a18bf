/** Opens pages of the built site (npm run build) in a browser that is offline, for printing and drawing. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

export const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** The folder of each language's pages. */
export const roots = { en: '', so: 'so' };

/**
 * Opens a browser, calls `work` with a browser page and a function that shows a page of the site in it, and closes the
 * browser. Texts that change have their defaults. CHROMIUM_PATH names another browser than Debian's.
 */
export async function withPage(folder, options, work) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
  try {
    const context = await browser.newContext({ offline: true, ...options });
    const page = await context.newPage();
    const show = async (path) => {
      const html = await readFile(join(folder, path, 'index.html'), 'utf8');
      const still = html.replace(/__TEXT:[^|]+\|(.*?)__/g, '$1');
      await page.setContent(still.replace(/<script[^>]*>[\s\S]*?<\/script>/g, ''));
    };
    await work(page, show);
  } finally {
    await browser.close();
  }
}
