import { type Browser, expect, type Page, test } from '@playwright/test';
import { addReports, choosePassword, deskURL, enterDesk, mailTo, makeMember, search } from './desk';
import { admin, uniqueName } from './stack';

const live = (page: Page) =>
  expect(page.getByRole('img', { name: 'Live: new reports appear by themselves' })).toBeVisible();

/** Opens the desk of another member in a browser of its own. */
async function colleague(browser: Browser, role: 'reviewer' | 'editor', name: string) {
  const page = await (await browser.newContext()).newPage();
  const member = await enterDesk(page, role, name);
  return { page, ...member };
}

const statusButton = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true, pressed: true });

test('two members on one report: presence, live changes, and a conflict that shows both', async ({
  page,
  browser,
}) => {
  const [report] = await addReports([{ product_name: uniqueName('both'), issue_description: 'x' }]);
  const other = await colleague(browser, 'reviewer', 'Asha Cali');
  await enterDesk(page, 'reviewer');
  for (const each of [page, other.page]) {
    await each.goto(`${deskURL()}/#/reports/${report?.reference}`);
    await expect(statusButton(each, 'New')).toBeVisible();
    await live(each);
  }
  await expect(page.getByText('Open at Asha Cali').first()).toBeVisible();

  // A change of the colleague is there without a reload.
  await other.page.getByRole('button', { name: 'Closed', exact: true }).click();
  await expect(statusButton(page, 'Closed')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'Status: New → Closed' })).toContainText(
    'Asha Cali',
  );
  await other.page.getByLabel('Write a note for colleagues').fill('I called the shop.');
  await other.page.keyboard.press('Control+Enter');
  await expect(page.getByText('I called the shop.')).toBeVisible();

  // A change that the page has not heard of yet is a conflict.
  await page.route('**/rpc/list_reports', (route) => route.abort());
  await page.route('**/rest/v1/reports?*', (route) => route.abort());
  await other.page.getByRole('button', { name: 'Acted on', exact: true }).click();
  await expect(statusButton(other.page, 'Acted on')).toBeVisible();
  await page.getByRole('button', { name: 'Reviewing', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Asha Cali changed it');
  await expect(dialog.getByRole('row', { name: 'Status' }).getByRole('cell')).toHaveText([
    'Acted on',
    'Reviewing',
  ]);
  const stored = async () =>
    (await admin().from('reports').select('status').eq('id', report?.id).single()).data?.status;
  expect(await stored()).toBe('actioned');
  await page.unroute('**/rpc/list_reports');
  await page.unroute('**/rest/v1/reports?*');
  await dialog.getByRole('button', { name: 'Set mine' }).click();
  await expect(statusButton(page, 'Reviewing')).toBeVisible();
  expect(await stored()).toBe('reviewing');

  // For ten seconds a change can be taken back, here by its key.
  await page.keyboard.press('u');
  await expect(statusButton(page, 'Acted on')).toBeVisible();
  await other.page.context().close();
  await expect(page.getByText('Open at Asha Cali')).toHaveCount(0);
});

test('two editors on one resource: both keep their work, and a field of both is decided', async ({
  page,
  browser,
}) => {
  const title = uniqueName('Both');
  const { data } = await admin()
    .from('resources')
    .insert({ title, category: 'Safety', is_active: false })
    .select('id')
    .single();
  const other = await colleague(browser, 'editor', 'Asha Cali');
  await enterDesk(page, 'editor');
  for (const each of [page, other.page]) {
    await each.goto(`${deskURL()}/#/resources/${data?.id}`);
    await expect(each.getByLabel('Title').first()).toHaveValue(title);
  }
  await page.route('**/rest/v1/resources?select=*', (route) => route.abort()); // the news comes late
  await other.page.getByLabel('Title').first().fill(`${title} theirs`);
  await other.page.getByLabel('Description').first().fill('their words');
  await other.page.getByRole('button', { name: 'Save' }).click();
  await expect(other.page.getByRole('heading', { name: 'Resources' })).toBeVisible();

  await page.getByLabel('Title').first().fill(`${title} mine`);
  await page.getByLabel('Title').nth(1).fill('cinwaan');
  await page.unroute('**/rest/v1/resources?select=*');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'A colleague changed the same fields' })).toBeVisible();
  await expect(page.getByText(`${title} theirs`)).toBeVisible();
  await expect(page.getByLabel('Description').first()).toHaveValue('their words');
  await page.getByRole('button', { name: 'Set mine' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'Resources' })).toBeVisible();
  const saved = await admin()
    .from('resources')
    .select('title, title_so, description')
    .eq('id', data?.id)
    .single();
  expect(saved.data).toEqual({ title: `${title} mine`, title_so: 'cinwaan', description: 'their words' });
  await admin().from('resources').delete().eq('id', data?.id);
  await other.page.context().close();
});

test('triage keeps the order that was shown, and new reports wait', async ({ page }) => {
  const product = uniqueName('order');
  const row = (i: number) => ({
    product_name: product,
    issue_description: 'x',
    created_at: new Date(Date.now() - i * 60_000).toISOString(),
  });
  const reports = (await addReports([1, 2, 3, 4].map(row))).map((r) => r.reference);
  await enterDesk(page, 'reviewer');
  await live(page);
  await page.getByRole('button', { name: /^New/ }).click();
  await search(page, product, '4 reports');
  const rows = page.getByRole('listbox').getByRole('option');
  await expect(rows).toHaveCount(4);
  await page.getByRole('searchbox').press('Escape');
  await page.keyboard.press('j');
  await expect(page).toHaveURL(new RegExp(`${reports[0]}[?]`));
  await page.keyboard.press('j');
  await page.keyboard.press('3'); // it leaves the tab, and keeps its place
  await expect(rows.nth(1)).toContainText('Acted on');
  await expect(page.getByRole('button', { name: 'New 3' })).toBeVisible();
  await page.keyboard.press('j');
  await expect(page).toHaveURL(new RegExp(`${reports[2]}[?]`));
  await addReports([row(0), row(-1)]);
  const waiting = page.getByRole('button', { name: '2 new: show them' });
  await expect(waiting).toBeVisible();
  await expect(rows).toHaveText(reports.map((name) => new RegExp(`${name}$`)));
  await page.keyboard.press('r');
  await expect(rows).toHaveCount(5);
  await expect(waiting).toHaveCount(0);

  // The filter stands in the address, the words of the search do not, and both survive a reload.
  expect(page.url()).toContain('status=new');
  expect(page.url()).not.toContain(product.split(' ')[1]);
  await page.reload();
  await expect(rows).toHaveCount(5);
  await expect(page.getByRole('searchbox')).toHaveValue(product);
});

test('several reports are changed at once, and taken back', async ({ page }) => {
  const product = uniqueName('bulk');
  const { id } = await enterDesk(page, 'reviewer');
  await addReports([1, 2, 3].map(() => ({ product_name: product, issue_description: 'x' })));
  await search(page, product, '3 reports');
  await page.getByRole('searchbox').press('Escape');
  for (const key of 'jxjx') await page.keyboard.press(key);
  const bar = page.getByRole('group', { name: 'Change the checked reports' });
  await expect(bar).toContainText('2 checked');
  await bar.getByLabel('Assigned to').selectOption(id);
  await bar.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Mine', exact: true }).click();
  const rows = page.getByRole('listbox').getByRole('option');
  await expect(rows).toHaveCount(2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone')).toBeVisible();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByText('No report matches.')).toBeVisible();
});

test('Tab passes the message with Undo', async ({ page }) => {
  const [report] = await addReports([{ product_name: uniqueName('tab'), issue_description: 'x' }]);
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${report?.reference}`);
  await expect(page.getByText('The report arrived.')).toBeVisible();
  await page.keyboard.press('2');
  const undo = page.getByRole('button', { name: 'Undo' });
  await expect(undo).toBeVisible();
  await page.getByLabel('Write a note for colleagues').focus(); // the last control before the message
  const focused = () => undo.evaluate((button) => button === document.activeElement);
  const stops: boolean[] = [];
  while (stops.length < 6) {
    await page.keyboard.press('Tab');
    stops.push(await focused());
  }
  expect(stops.filter(Boolean)).toHaveLength(1);
  await page.keyboard.press('u');
  await expect(statusButton(page, 'New')).toBeVisible();
});

test('a duplicate that was found at arrival is resolved in one step', async ({ page }) => {
  const product = uniqueName('twice');
  const reports = await addReports([1, 2].map(() => ({ product_name: product, issue_description: 'x' })));
  const [first, second] = reports;
  await admin().from('reports').update({ possible_duplicate_of: first?.id }).eq('id', second?.id);
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${second?.reference}`);
  const banner = page.getByRole('region', { name: 'Looks like a copy of' });
  await expect(banner).toContainText(first?.reference ?? '');
  await banner.getByRole('button', { name: 'It is a copy: close it' }).click();
  await expect(banner).toHaveCount(0);
  await expect(statusButton(page, 'Closed')).toBeVisible();
  const { data } = await admin().from('reports').select('duplicate_of, status').eq('id', second?.id).single();
  expect(data).toEqual({ duplicate_of: first?.id, status: 'closed' });
});

test('seriousness, priority and a due date make views', async ({ page }) => {
  const [report] = await addReports([{ product_name: uniqueName('serious'), issue_description: 'x' }]);
  await enterDesk(page, 'reviewer');
  await page.goto(`${deskURL()}/#/reports/${report?.reference}`);
  await page.getByLabel('Life-threatening').check();
  await expect(page.getByLabel('Life-threatening')).toBeChecked();
  await page.getByLabel('Priority').selectOption('Urgent');
  await page.getByLabel('Due', { exact: true }).fill('2026-01-31');
  await page.getByLabel('Due', { exact: true }).blur();
  await expect(
    page.getByRole('listitem').filter({ hasText: 'Seriousness: Not assessed → Life-threatening' }),
  ).toBeVisible();
  await page.getByRole('button', { name: 'Serious', exact: true }).click();
  await page.getByRole('button', { name: 'Overdue', exact: true }).click();
  const row = page.getByRole('option').filter({ hasText: report?.reference });
  await expect(row).toContainText('Urgent');
  await expect(row.getByRole('img', { name: 'Overdue' })).toBeVisible();
});

test('after the end of the session the same page continues, with a half note', async ({ page }) => {
  const reports = await addReports(
    [1, 2].map(() => ({ product_name: uniqueName('end'), issue_description: 'secret' })),
  );
  const [report, next] = reports;
  const reply = page.waitForResponse(
    async (r) => r.url().endsWith('/rpc/my_staff_access') && (await r.json()).session_ends,
  );
  await enterDesk(page, 'reviewer');
  const access = await (await reply).json();
  await page.goto(`${deskURL()}/#/reports/${report?.reference}`);
  const note = page.getByLabel('Write a note for colleagues');
  await note.fill('half a note');
  await page.goto(`${deskURL()}/#/reports/${next?.reference}`);
  await expect(note).toHaveValue('');
  await page.goBack();
  await page.reload();
  await expect(note).toHaveValue('half a note');
  await expect(page.getByText('Draft, not saved yet')).toBeVisible();

  await page.route('**/rpc/my_staff_access', (route) => route.fulfill({ json: { ...access, role: null } }));
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(page.getByText('Your session has ended. Sign in again:')).toBeVisible();
  await expect(page.getByText('secret')).toBeHidden();
  await expect(note).toBeHidden();
  await page.unroute('**/rpc/my_staff_access');
  await page.getByLabel('Password').fill('seven goats cross the river');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(note).toBeVisible();
  await expect(note).toHaveValue('half a note');
  await note.press('Control+Enter');
  await expect(page.getByRole('listitem').filter({ hasText: 'half a note' })).toBeVisible();
  await expect(note).toHaveValue('');
});

test('an invitation of a member asks before it changes the role, and a used link leads to a new one', async ({
  page,
  browser,
}) => {
  const member = await makeMember('editor');
  await enterDesk(page, 'owner');
  await page.getByRole('link', { name: 'Staff' }).click();
  const line = page.getByRole('listitem').filter({ hasText: member.email });
  await expect(line).toContainText('invited, not here yet');
  await page.getByLabel('E-mail').fill(member.email);
  await page.getByLabel('Role', { exact: true }).selectOption('reviewer');
  await page.getByRole('button', { name: 'Send invitation' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('is Editor. Change the role to Reviewer?');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(line.getByRole('combobox')).toHaveValue('editor');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await line.getByRole('button', { name: /^Copy a link/ }).click();
  const shown = page.getByRole('dialog', { name: /^A link for/ });
  await shown.getByRole('button', { name: 'Copy' }).click();
  await expect(page.getByText('Copied')).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await expect(shown.getByLabel('Link')).toHaveValue(copied);
  await shown.getByRole('button', { name: 'Close' }).click();
  await expect(line.getByRole('button', { name: /^Copy a link/ })).toBeFocused();
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(copied);
  await expect(guest.getByText(member.email)).toBeVisible();
  await guest.context().close();

  await page.waitForTimeout(1100); // auth mails an address once a second at most, the copied link included
  await line.getByRole('button', { name: /^Send a new link/ }).click();
  const { link } = await mailTo(member.email);

  const phone = await (await browser.newContext()).newPage();
  await phone.goto(link);
  await expect(phone.getByText(member.email)).toBeVisible();
  await choosePassword(phone);
  await expect(phone.getByRole('heading', { name: 'Resources' })).toBeVisible();
  const again = await (await browser.newContext()).newPage();
  await again.goto(link);
  await expect(again.getByRole('alert')).toContainText('This link was used already');
  await expect(again.getByRole('button', { name: 'Mail me a link instead' })).toBeVisible();
  await again.context().close();
  await phone.context().close();
});
