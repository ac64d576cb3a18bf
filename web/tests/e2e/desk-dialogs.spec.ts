import { expect, type Page, test } from '@playwright/test';
import type { Text } from '../../desk/src/i18n/en';
import { addReports, deskURL, makeMember, totp } from './desk';
import {
  checkDialog,
  checkOpened,
  enter,
  open,
  person,
  press,
  textOf,
  type,
  variants,
} from './desk-keyboard';
import { drawn } from './photos';
import { sample } from './sample';
import { admin, uniqueName } from './stack';

/** Checks the dialogs of the list and of its newest report of a product, which has a photo. */
async function checkInbox(page: Page, text: Text, product: string, id: string) {
  await open(page, text, 'reports');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await checkOpened(page, 'keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.insertText(product);
  await page.keyboard.press('Enter');
  await expect(page.getByText(text.inbox.count(2), { exact: true })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await expect(page.getByRole('heading', { level: 1, name: product })).toBeVisible();
  for (const button of [
    page.getByRole('button', { name: text.report.remove, exact: true }),
    page.getByRole('button', { name: text.report.zoom }),
  ])
    await checkDialog(page, button);
  await checkDialog(page, page.getByRole('button', { name: text.report.compare }).first(), (dialog) =>
    expect(dialog.getByRole('table')).toBeVisible(),
  );

  // A colleague was faster, and this page has not heard of it.
  await page.route('**/rpc/list_reports', (route) => route.abort());
  await page.route('**/rest/v1/reports?*', (route) => route.abort());
  await admin().from('reports').update({ status: 'actioned' }).eq('id', id);
  await page.keyboard.press('4');
  await expect(page.getByRole('dialog')).toBeVisible();
  await checkOpened(page, 'conflict');
  await page.keyboard.press('Escape');
  await page.unroute('**/rpc/list_reports');
  await page.unroute('**/rest/v1/reports?*');

  await page.keyboard.press('x');
  await page.keyboard.press('Escape'); // back to the list
  await checkDialog(page, page.getByRole('button', { name: text.inbox.exportCases }));
}

// Without LONG=1 English on a computer: desk-chain.spec.ts has the phone and Somali.
for (const variant of sample([...variants].reverse(), 4)) {
  const text = textOf(variant);

  test(`the screens and most dialogs, by keyboard alone: ${variant.language}, ${variant.size}`, async ({
    browser,
  }) => {
    test.setTimeout(300_000);
    const page = await person(browser, variant);
    const product = uniqueName('dialog');
    const photo = `${uniqueName('photo').replace(' ', '-')}.png`;
    const stored = await admin()
      .storage.from('report-photos')
      .upload(photo, await drawn(page, 'image/png'), { contentType: 'image/png' });
    expect(stored.error).toBeNull();
    await addReports([{ product_name: product, issue_description: 'It burned.', photo_url: null }]);
    const values = { issue_description: 'It burned.', photo_url: photo, photo_metadata: 'removed' };
    const [report] = await addReports([{ ...values, product_name: product }]);

    await page.goto(deskURL());
    await expect(page.getByRole('button', { name: text.signIn.submit })).toBeVisible();
    await checkOpened(page, 'sign-in');
    await page.goto((await makeMember('owner')).link);
    await enter(page, text, 'Hodan Warsame');
    for (const name of ['clusters', 'figures', 'trail', 'system'] as const) {
      await open(page, text, name);
      await checkOpened(page, name);
    }

    // A second step, and the sign-off of a guide that needs it.
    await open(page, text, 'account');
    await checkOpened(page, 'account');
    await press(page, page.getByRole('button', { name: text.account.addApp }));
    const secret = (await page.locator('dialog code').textContent()) ?? '';
    await checkOpened(page, 'second step');
    await type(page, page.getByLabel(text.signIn.digits), totp(secret));
    await page.keyboard.press('Enter');
    await expect(page.getByText(text.account.app, { exact: true })).toBeVisible();
    await open(page, text, 'guides');
    await checkOpened(page, 'guides');
    await press(page, page.getByRole('listitem').getByRole('link').first());
    await expect(page.getByRole('heading', { name: text.guides.review, exact: true })).toBeVisible();
    await checkOpened(page, 'guide');
    await checkDialog(page, page.getByRole('button', { name: text.guides.signOff, exact: true }));

    await open(page, text, 'staff');
    await checkDialog(
      page,
      page.getByRole('button', { name: new RegExp(`^${text.staff.remove}: `) }).first(),
    );
    await open(page, text, 'resources');
    await checkOpened(page, 'resources');
    // The oldest: newer ones belong to other tests, which delete them.
    await press(page, page.getByRole('list').getByRole('listitem').last().getByRole('link').first());
    await expect(page.getByRole('heading', { name: text.resources.edit, exact: true })).toBeVisible();
    await checkOpened(page, 'resource');
    await checkDialog(page, page.getByRole('button', { name: text.resources.remove, exact: true }));

    await checkInbox(page, text, product, report?.id ?? '');
    await page.context().close();
  });
}
