import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, expect, type Locator, type Page, test } from '@playwright/test';
import { en, type Text } from '../../desk/src/i18n/en';
import { so } from '../../desk/src/i18n/so';
import { addReports, deskURL, invitationLink, makeMember, password } from './desk';
import { uniqueName } from './stack';

/** Moves the focus to a control by Tab alone. */
async function reach(page: Page, control: Locator) {
  await expect(control).toBeVisible();
  for (let presses = 0; presses < 200; presses++) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${control}`);
}

async function press(page: Page, control: Locator, key = 'Enter') {
  await reach(page, control);
  await page.keyboard.press(key);
}

async function type(page: Page, control: Locator, words: string) {
  await reach(page, control);
  await page.keyboard.insertText(words);
}

/** Opens all that opens in place, and fails if axe finds anything. No rule is off. */
async function checkOpened(page: Page, name: string) {
  const closed = page.locator('button[aria-expanded=false]:visible');
  for (const button of await closed.elementHandles()) {
    if ((await button.getAttribute('aria-expanded')) !== 'false') continue;
    await button.press('Enter');
    await expect.poll(() => button.getAttribute('aria-expanded')).not.toBe('false');
  }
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(
    violations.map((v) => `${v.id}: ${v.nodes[0]?.html}`),
    name,
  ).toEqual([]);
}

async function show(page: Page, text: Text, screen: string) {
  await page.goto(`${deskURL()}/#/${screen}`);
  await expect(page).toHaveURL(new RegExp(`#/${screen}$`));
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  await expect(page.getByText(text.loading)).toHaveCount(0);
}

const sizes = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } };

const variants = (['so', 'en'] as const).flatMap((language) =>
  (['phone', 'desktop'] as const).map((size) => ({ language, size })),
);

// Only with LONG=1: each takes half a minute.
for (const { language, size } of process.env.LONG === '1' ? variants : []) {
  const text: Text = language === 'en' ? en : so;

  /** A browser of a person, in the language and the size. */
  const person = async (browser: Browser) => {
    const page = await (await browser.newContext({ viewport: sizes[size] })).newPage();
    await page.addInitScript((chosen) => localStorage.setItem('desk-language', chosen), language);
    return page;
  };

  const enter = async (page: Page, name: string) => {
    await expect(page.getByRole('heading', { name: text.signIn.passwordTitle })).toBeVisible();
    await type(page, page.getByLabel(text.signIn.name), name);
    await type(page, page.getByLabel(text.signIn.newPassword), password);
    await checkOpened(page, 'welcome');
    await press(page, page.getByRole('button', { name: text.save }));
    await expect(page.getByRole('navigation')).toBeVisible();
    await expect(page).toHaveURL(/#\/\w/);
  };

  test(`two people, from the invitation to the trail, by keyboard alone: ${language}, ${size}`, async ({
    browser,
  }) => {
    test.setTimeout(300_000);
    const email = `${uniqueName('asha').replace(' ', '-')}@example.org`;
    const product = uniqueName('chain');
    const owner = await person(browser);
    const reviewer = await person(browser);

    await owner.goto((await makeMember('owner')).link);
    await enter(owner, 'Hodan Warsame');
    await show(owner, text, 'staff');
    await type(owner, owner.getByLabel(text.staff.email), email);
    await owner.keyboard.press('Enter');
    await expect(owner.getByText(text.staff.sent(email))).toBeVisible();
    await checkOpened(owner, 'staff, with a member who is invited');

    await reviewer.goto(await invitationLink(email));
    await enter(reviewer, 'Asha Cali');

    // Both have the list open when the report arrives.
    await show(owner, text, 'reports');
    for (const each of [owner, reviewer])
      await expect(each.getByRole('img', { name: text.inbox.live })).toBeVisible({ timeout: 30_000 });
    const values = { issue_description: 'It burned.', phone_e164: '+252612345678', batch_number: product };
    const [report] = await addReports([{ ...values, product_name: product }]);
    const arrived = Date.now();
    await expect(
      reviewer.getByText(report?.reference ?? '').or(reviewer.getByText(text.inbox.arrived(1))),
    ).toBeVisible();
    test.info().annotations.push({ type: 'ms to the row', description: String(Date.now() - arrived) });
    await addReports([{ ...values, product_name: product }]);
    await checkOpened(reviewer, 'list with its filters');

    for (const each of [owner, reviewer]) await show(each, text, `reports/${report?.reference}`);
    await expect(owner.getByText(text.inbox.openAt('Asha Cali')).first()).toBeVisible({ timeout: 30_000 });
    await reviewer.keyboard.press('2');
    const status = owner.getByRole('button', { name: text.status.reviewing, pressed: true });
    if (size === 'desktop') await expect(status.first()).toBeVisible();
    await reviewer.keyboard.press('n');
    await reviewer.keyboard.insertText('I called the shop.');
    await reviewer.keyboard.press('Control+Enter');
    await expect(owner.getByText('I called the shop.')).toBeVisible();
    await checkOpened(reviewer, 'report, with the message and the log open');
    await press(reviewer, reviewer.getByRole('button', { name: text.contact.save }));
    await expect(
      owner.getByText(`${text.contact.channels.call}: ${text.contact.outcomes.reached}`),
    ).toBeVisible();

    for (const screen of ['clusters', 'guides', `reports/${report?.reference}/forward`]) {
      await show(reviewer, text, screen);
      await checkOpened(reviewer, screen);
    }
    await press(reviewer, reviewer.getByRole('button', { name: text.signOut, exact: true }));
    await expect(reviewer.getByRole('button', { name: text.signIn.submit })).toBeVisible();

    await show(owner, text, 'trail');
    await type(owner, owner.getByLabel(text.trail.who), email);
    const lines = owner.getByRole('row').filter({ hasText: email });
    for (const action of ['read', 'change', 'note', 'contact'] as const)
      await expect(
        lines.filter({ hasText: text.trail.actions[action] }).filter({ hasText: report?.reference }),
      ).toHaveCount(1);
    await checkOpened(owner, 'trail');
    for (const each of [owner, reviewer]) await each.context().close();
  });
}
