/*
 * Draws the pictures of the desk in docs/images with invented reports, on a stack with an empty folder that is used for
 * nothing else:
 *
 *   BACKUP_TO=/tmp/pictures/backups bin/daawo start --port 0 --data /tmp/pictures/data &
 *   eval "$(bin/daawo status --data /tmp/pictures/data -o env | sed 's/^/export /')" && node web/scripts/desk-pictures.mjs /tmp/pictures
 */
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { createClient } from '@supabase/supabase-js';
import { inventedReports } from './invented-reports.mjs';

const [folder = ''] = process.argv.slice(2);
const { API_URL, DESK_URL, SERVICE_ROLE_KEY } = process.env;
const images = fileURLToPath(new URL('../../docs/images/', import.meta.url));

class NoSocket extends EventTarget {}
const admin = createClient(API_URL, SERVICE_ROLE_KEY, {
  auth: { persistSession: false },
  realtime: { transport: NoSocket }, // Node 20 has no WebSocket
});

/** Returns the data of a reply, or throws its error. */
const dataOf = ({ data, error }) => {
  if (error) throw error;
  return data;
};

/** Opens the desk as a new member. */
async function enter(context, email, role, name) {
  const { user, properties } = dataOf(await admin.auth.admin.generateLink({ type: 'invite', email }));
  dataOf(await admin.rpc('set_staff_role', { member: user.id, role }));
  const page = await context.newPage();
  await page.goto(`${DESK_URL}/#/welcome?token_hash=${properties.hashed_token}&type=invite`);
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('New password').fill('seven goats cross the river');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('navigation').waitFor();
  return page;
}

/** Shows a screen, and waits until its data and the words are there. */
async function show(page, screen, words) {
  await page.goto(`${DESK_URL}/#/${screen}`);
  await page.getByText(words).first().waitFor();
  await page.waitForFunction(
    () =>
      ![...document.querySelectorAll('p')].some((p) => /^(Loading|Waa la soo rarayaa)…$/.test(p.textContent)),
  );
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500); // signals make one refresh
}

const shot = (page, name) => page.screenshot({ path: `${images}${name}.png` });

/** Runs in the page. Puts the folders and the port of an installed server in the place of this one's. */
function asInstalled(folder) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    node.textContent = node.textContent
      .replaceAll(`${folder}/backups`, '/var/backups/daawo')
      .replaceAll(`${folder}/data`, '/var/lib/daawo')
      .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:54321');
  }
}

const reports = dataOf(await admin.from('reports').insert(inventedReports()).select('reference, created_at'));
const [{ reference }] = reports.sort((a, b) => b.created_at.localeCompare(a.created_at));
const [resource] = dataOf(
  await admin.from('resources').select('id').eq('title', 'Using Antibiotics Safely').limit(1),
);
const [guide] = dataOf(await admin.from('guides').select('slug').eq('title', 'Safe Pain Relief').limit(1));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-quic'],
});
const wide = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 } });
const page = await enter(wide, 'hodan@example.org', 'owner', 'Hodan Warsame');
for (const [name, height, screen, words] of [
  ['desk-report', 1000, `reports/${reference}`, 'What happened so far'],
  ['desk-clusters', 820, 'clusters', 'Same batch'],
  ['desk-resource', 900, `resources/${resource.id}`, 'As visitors see it'],
  ['desk-guide', 900, `guides/${guide.slug}`, 'Texts and place'],
  ['desk-figures', 850, 'figures', 'By region'],
]) {
  await page.setViewportSize({ width: 1280, height });
  await show(page, screen, words);
  await shot(page, name);
}
await page.setViewportSize({ width: 1280, height: 1000 });
await show(page, 'system', 'Checks');
await page.getByRole('button', { name: 'Make a backup now' }).click();
await page
  .getByText(/min ago/)
  .first()
  .waitFor({ timeout: 120_000 });
await show(page, 'system', 'Checks');
await page.reload();
await page
  .getByText(/min ago/)
  .first()
  .waitFor();
await page.waitForLoadState('networkidle'); // another reply would bring the folders back
await page.evaluate(asInstalled, folder);
await shot(page, 'desk-system');

const phone = await browser.newContext({
  locale: 'en-GB',
  viewport: { width: 360, height: 720 },
  hasTouch: true,
  colorScheme: 'dark',
  storageState: await wide.storageState(),
});
await phone.addInitScript(() => localStorage.setItem('desk-language', 'so'));
const small = await phone.newPage();
const parts = [];
for (const [screen, words] of [
  ['reports', reference],
  [`reports/${reference}`, 'Maxaa dhacay'],
  ['figures', 'Gobol ahaan'],
]) {
  await show(small, screen, words);
  parts.push((await small.screenshot()).toString('base64'));
}
const sheet = await (await browser.newContext({ viewport: { width: 1112, height: 736 } })).newPage();
await sheet.setContent(
  `<body style="margin:0;padding:8px;display:flex;gap:8px;background:#888">${parts
    .map((part) => `<img width="360" height="720" alt="" src="data:image/png;base64,${part}">`)
    .join('')}`,
);
await sheet.waitForFunction(() => [...document.images].every((image) => image.complete));
await shot(sheet, 'desk-phone');
await browser.close();
