import { expect, type Page, test } from '@playwright/test';
import { addReports, deskURL, enterDesk, makeMember, search } from './desk';
import { admin, uniqueName } from './stack';

const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

test('keys act on the report of the address, however fast they follow', async ({ page }) => {
  const product = uniqueName('ointment');
  const reports = await addReports(
    Array.from({ length: 6 }, (_, i) => ({
      product_name: product,
      issue_description: 'It burned.',
      phone: '+252612345678',
      phone_e164: '+252612345678',
      location: 'Bari',
      created_at: new Date(Date.now() - i * 1000).toISOString(),
    })),
  );
  await enterDesk(page, 'reviewer');
  await search(page, product, '6 reports');
  await page.getByRole('searchbox').press('Escape');
  // Each key in a task of its own, without time for the screen between them.
  await page.evaluate(async () => {
    for (const key of 'j2j3j4j2j3j4') {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      await new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(0);
      });
    }
  });
  const expected = ['reviewing', 'actioned', 'closed', 'reviewing', 'actioned', 'closed'];
  await expect(async () => {
    const { data } = await admin().from('reports').select('reference, status').eq('product_name', product);
    const status = Object.fromEntries((data ?? []).map((r) => [r.reference, r.status]));
    expect(reports.map((r) => status[r.reference])).toEqual(expected);
  }).toPass();
});

test('a new report appears by itself, without polling, and the message about it has no content', async ({
  page,
}) => {
  const frames: string[] = [];
  const steps: string[] = []; // signals of changes, and readings of the list
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      frames.push(String(payload));
      if (String(payload).includes('"changed"')) steps.push('signal');
    }),
  );
  page.on('request', (request) => request.url().endsWith('/rpc/list_reports') && steps.push('list'));
  await enterDesk(page, 'reviewer');
  await expect(page.getByRole('img', { name: 'Live: new reports appear by themselves' })).toBeVisible();
  await page.mouse.move(0, 0); // below the pointer the rows of the list stay where they are
  const product = uniqueName('live');
  const before = steps.length;
  const [report] = await addReports([
    { product_name: product, issue_description: 'secret words', name: 'Amina Cali', phone: '061 2345678' },
  ]);
  await expect(page.getByRole('option').filter({ hasText: product })).toBeVisible();
  expect(steps.slice(before).join()).toMatch(/signal.*list/);
  const count = (name: string) => steps.filter((step) => step === name).length;
  expect(count('list')).toBeLessThanOrEqual(count('signal') + 2); // and at the start, and when messages begin
  const all = frames.join();
  expect(all).toContain('changed');
  expect(all).not.toContain(report?.id);
  expect(all).not.toContain(product);
  expect(all).not.toMatch(/secret words|Amina|2345678|search_text/);
});

test('no text of a visitor or of a member runs a script', async ({ page }) => {
  const product = `${uniqueName('script')} ${evil}`;
  const rows = {
    product_name: product,
    issue_description: evil,
    name: evil,
    phone: '<img src=x onerror=window.hacked=1>',
    where_bought: evil,
    location: evil,
    batch_number: evil,
    reviewer_notes: evil,
  };
  const [first] = await addReports([rows, rows]);
  const client = admin();
  const note = await client.from('report_notes').insert({ report_id: first?.id, body: evil });
  expect(note.error).toBeNull();
  const title = `${uniqueName('script')} ${evil}`;
  const added = await client
    .from('resources')
    .insert({ title, title_so: evil, description: evil, category: evil, is_active: false })
    .select('id')
    .single();
  expect(added.error).toBeNull();
  const other = await makeMember('reviewer');
  await client.auth.admin.updateUserById(other.id, { user_metadata: { name: evil } });
  await enterDesk(page, 'owner');
  for (const [screen, sign] of [
    ['reports', 'Reports'],
    [`reports/${first?.reference}`, 'Side by side'],
    [`reports/${first?.reference}/forward`, 'Notice to the authority'],
    ['resources', 'Resources'],
    [`resources/${added.data?.id}`, 'Edit resource'],
    ['staff', 'Staff'],
    ['trail', 'Trail'],
    ['figures', 'Figures'],
  ] as const) {
    await page.goto(`${deskURL()}/#/${screen}`);
    if (sign === 'Side by side') await page.getByRole('button', { name: 'Compare' }).first().click();
    await expect(page.getByRole('heading', { name: sign })).toBeVisible();
    await expect(page.getByText('Loading…')).toHaveCount(0);
    await expect(page.locator('img[src="x"]'), screen).toHaveCount(0);
    expect(await page.evaluate(() => (window as { hacked?: number }).hacked), screen).toBeUndefined();
  }
  await client.from('resources').delete().eq('id', added.data?.id);
  await client.rpc('set_staff_role', { member: other.id, role: null });
});

/** Checks that the list has the reports of these references, newest first. */
const lists = (page: Page, ...references: (string | undefined)[]) =>
  expect(page.getByRole('listbox').getByRole('option')).toHaveText(
    references.map((name) => new RegExp(`${name}$`)),
  );

test('each filter of the inbox', async ({ page }) => {
  const words = uniqueName('filter');
  const { id } = await enterDesk(page, 'reviewer');
  const day = 86_400_000;
  const at = (days: number) => new Date(Date.now() - days * day).toISOString();
  const blank = { issue_description: words, region: null, photo_url: null, assigned_to: null, status: 'new' };
  const [bari, mine, other, old] = (
    await addReports([
      { ...blank, product_name: 'A', region: 'Bari', photo_url: `${Date.now()}.jpg`, created_at: at(0) },
      { ...blank, product_name: 'B', assigned_to: id, created_at: at(1) },
      { ...blank, product_name: 'C', status: 'reviewing', region: 'Bay', created_at: at(2) },
      { ...blank, product_name: 'C', status: 'closed', region: 'Bay', created_at: at(40) },
    ])
  ).map((r) => r.reference);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await search(page, words, '4 reports');
  await lists(page, bari, mine, other, old);
  for (const [name, rows] of [
    ['New 2', [bari, mine]],
    ['Reviewing 1', [other]],
    ['Acted on 0', []],
    ['Closed 1', [old]],
    ['All 4', [bari, mine, other, old]],
  ] as const) {
    await page.getByRole('button', { name, exact: true }).click();
    await lists(page, ...rows);
  }
  await page.getByRole('button', { name: 'Filters' }).click();
  const region = page.getByLabel('Region');
  await region.selectOption('Bari');
  await lists(page, bari);
  await region.selectOption('Without a known region');
  await lists(page, mine);
  await region.selectOption('Every region');
  await page.getByLabel('Product', { exact: true }).fill(' c ');
  await page.getByLabel('Product', { exact: true }).press('Enter');
  await lists(page, other, old);
  await page.getByLabel('From').fill(at(30).slice(0, 10));
  await lists(page, other);
  await page.getByLabel('From').fill('');
  await page.getByLabel('Until').fill(at(30).slice(0, 10));
  await lists(page, old);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('With photo').check();
  await lists(page, bari);
  await page.getByLabel('With photo').uncheck();
  await page.getByRole('button', { name: 'Mine', exact: true }).click();
  await lists(page, mine);
  await page.getByLabel('With photo').check();
  await expect(page.getByText('No report matches.')).toBeVisible();
  await page.getByRole('button', { name: 'Show all reports' }).click();
  await expect(page.getByRole('searchbox')).toHaveValue('');
  await expect(page.getByRole('listbox').getByRole('option').first()).toBeVisible();
});

test('a likely duplicate is compared side by side and marked', async ({ page }) => {
  const product = uniqueName('syrup');
  const same = { product_name: product, batch_number: 'B-77', phone: '061 2345678', region: 'Bay' };
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const reports = await addReports([
    { ...same, issue_description: 'It is bitter.', created_at: at(5) },
    { ...same, issue_description: 'It tastes bitter.', created_at: at(9) },
    { ...same, issue_description: 'It leaks.', batch_number: 'B-78', created_at: at(7) },
  ]);
  const [first, second, third] = reports;
  const set = await admin().from('reports').update({ possible_duplicate_of: second?.id }).eq('id', first?.id);
  expect(set.error).toBeNull();
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${first?.reference}`);
  const similar = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Similar reports' }) });
  await expect(similar.getByRole('listitem').filter({ hasText: third?.reference })).toHaveCount(1);
  const likely = similar.getByRole('listitem').first(); // although the other one is newer
  await expect(likely).toContainText(second?.reference ?? '');
  await expect(likely).toContainText('likely a duplicate');
  await likely.getByRole('button', { name: 'Compare' }).click();
  const dialog = page.getByRole('dialog', { name: 'Side by side' });
  await expect(dialog.getByRole('row', { name: 'Reference' }).getByRole('cell')).toHaveText([
    first?.reference ?? '',
    second?.reference ?? '',
  ]);
  await expect(dialog.getByRole('row', { name: 'What happened' }).getByRole('cell')).toHaveText([
    'It is bitter.',
    'It tastes bitter.',
  ]);
  await expect(dialog.getByRole('row', { name: 'Batch' })).toHaveClass(/bg-sun-soft/); // equal in both
  await expect(dialog.getByRole('row', { name: 'What happened' })).not.toHaveClass(/bg-sun-soft/);
  await dialog
    .getByRole('button', { name: `${first?.reference} is a duplicate of ${second?.reference}` })
    .click();
  await expect(similar.getByText('Marked as a duplicate of')).toBeVisible();
  const marked = await admin().from('reports').select('duplicate_of').eq('id', first?.id).single();
  expect(marked.data?.duplicate_of).toBe(second?.id);
  await similar.getByRole('button', { name: 'Undo' }).click();
  await expect(similar.getByText('Marked as a duplicate of')).toHaveCount(0);
});

test('call, WhatsApp and print', async ({ page }) => {
  const [report, silent] = await addReports([
    {
      product_name: uniqueName('printed'),
      issue_description: 'It burned. '.repeat(400),
      phone: '061 2345678',
      phone_e164: '+252612345678',
    },
    { product_name: uniqueName('printed'), issue_description: 'x', phone: null, phone_e164: null },
  ]);
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${report?.reference}`);
  await expect(page.getByRole('link', { name: 'Call' })).toHaveAttribute('href', 'tel:+252612345678');
  const chat = page.getByRole('link', { name: 'WhatsApp' });
  await expect(chat).toHaveAttribute('href', 'https://wa.me/252612345678');
  await expect(chat).toHaveAttribute('rel', 'noopener noreferrer');
  await expect(chat).toHaveAttribute('target', '_blank');
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '');
  });
  await page.getByRole('button', { name: 'Print' }).click();
  await expect(page.locator('body[data-printed]')).toBeVisible();

  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('heading', { name: 'What happened' })).toBeVisible();
  await expect(page.getByText('+252612345678')).toBeVisible();
  for (const control of [
    page.getByRole('navigation'),
    page.getByRole('listbox'),
    page.getByRole('button'),
    chat,
    page.getByRole('textbox'),
  ]) {
    await expect(control.filter({ visible: true })).toHaveCount(0);
  }
  const sheet = (await page.pdf({ format: 'A4' })).toString('latin1');
  expect(sheet.match(/\/Type \/Page\b/g)?.length).toBe(2); // 4,400 letters; a box that scrolls would be cut after the first
  await page.emulateMedia({ media: 'screen' });

  await page.goto(`${deskURL()}/#/reports/${silent?.reference}`);
  await expect(page.getByText(silent?.reference ?? '').last()).toBeVisible();
  await expect(page.getByRole('link', { name: /Call|WhatsApp/ })).toHaveCount(0);
});

test('resources are moved, featured, edited, hidden and deleted', async ({ page }) => {
  const name = uniqueName('Moved');
  const client = admin();
  // Years ahead, so that they are the first two of the list whatever other tests add.
  const added = await client.from('resources').insert([
    { title: `${name} one`, category: 'Safety', is_active: true, created_at: '2099-01-02' },
    { title: `${name} two`, category: 'Safety', is_active: true, created_at: '2099-01-01' },
  ]);
  expect(added.error).toBeNull();
  await enterDesk(page, 'editor');
  const lines = page.getByRole('listitem').filter({ hasText: name });
  await expect(lines).toHaveText([/one/, /two/]);
  await page.getByRole('button', { name: `Move down: ${name} one` }).click();
  await expect(lines).toHaveText([/two/, /one/]);
  await page.getByRole('button', { name: `Move up: ${name} one` }).click();
  await expect(lines).toHaveText([/one/, /two/]);
  const star = page.getByRole('button', { name: `Featured: ${name} two` });
  await star.click();
  await expect(star).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('button', { name: `Hide: ${name} two` }).click();
  await expect(lines.last()).toContainText('Hidden');

  await page.getByRole('link', { name: `${name} one` }).click();
  await page.getByLabel('Title').first().fill(`${name} first`);
  await page.getByLabel('Title').nth(1).fill(`${name} kow`);
  await page.getByLabel('Icon').selectOption('Shield');
  await page.getByLabel('Colour').selectOption('Grey');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(lines.first()).toContainText(`${name} kow`);
  const saved = await client.from('resources').select('*').like('title', `${name}%`).order('created_at');
  expect(saved.data).toMatchObject([
    { title: `${name} two`, is_featured: true, is_active: false },
    { title: `${name} first`, title_so: `${name} kow`, icon_name: 'Shield', color_class: 'bg-slate-700' },
  ]);

  await page.getByRole('link', { name: `${name} first` }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(lines).toHaveText([/two/]);
  await client.from('resources').delete().like('title', `${name}%`);
});

test('the notice to the authority has no person in it', async ({ page }) => {
  const [report] = await addReports([
    {
      product_name: uniqueName('forward'),
      issue_description: 'I am Amina, call +252 61 234 5678',
      name: 'Amina Cali',
      phone: '061 2345678',
      where_bought: 'opposite the mosque',
    },
  ]);
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${report?.reference}/forward`);
  const print = page.getByRole('button', { name: /Print or save/ });
  await expect(print).toBeDisabled();
  await page.getByRole('checkbox').check();
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '');
  });
  await print.click();
  await expect(page.locator('body[data-printed]')).toBeVisible();
  // What the paper has, and the name that a browser gives the file.
  await page.emulateMedia({ media: 'print' });
  const printed = (words: string | RegExp) => page.getByText(words).filter({ visible: true });
  await expect(printed(report?.reference ?? '')).toHaveCount(1);
  await expect(printed('▒▒▒')).toHaveCount(1);
  await expect(printed(/Amina|Cali|234|mosque|I have read/)).toHaveCount(0);
  expect(await page.title()).toBe(report?.reference);
  const sheet = (await page.pdf({ format: 'A4' })).toString('latin1');
  expect(sheet.match(/\/Type \/Page\b/g)).toHaveLength(1);
  expect(sheet).not.toContain('Amina');
});
