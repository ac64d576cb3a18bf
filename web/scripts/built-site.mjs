/** The built site (npm run build), opened in a browser that reaches nothing else: what is printed and drawn from it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

export const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Languages and where their pages begin. */
export const roots = { en: '', so: 'so' };

/**
 * Opens a browser page, gives it to `work` with a function that shows a page of the site in it, and closes both.
 * Another browser than Debian's: CHROMIUM_PATH.
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
      await page.setContent(html.replace(/<script[^>]*>[\s\S]*?<\/script>/g, ''));
    };
    await work(page, show);
  } finally {
    await browser.close();
  }
}
