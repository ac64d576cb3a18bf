import { expect, test } from '@playwright/test';
import { addReports, mailTo, makeMember } from './desk';
import { checkOpened, enter, open, person, press, show, textOf, type, variants } from './desk-keyboard';
import { sample } from './sample';
import { uniqueName } from './stack';

// With LONG=1 all variants: each takes half a minute.
for (const variant of sample(variants, 4)) {
  const { language, size } = variant;
  const text = textOf(variant);

  test(`two people, from the invitation to the trail, by keyboard alone: ${language}, ${size}`, async ({
    browser,
  }) => {
    test.setTimeout(300_000);
    const email = `${uniqueName('asha').replace(' ', '-')}@example.org`;
    const product = uniqueName('chain');
    const owner = await person(browser, variant);
    const reviewer = await person(browser, variant);

    await owner.goto((await makeMember('owner')).link);
    await enter(owner, text, 'Hodan Warsame');
    await open(owner, text, 'staff');
    await type(owner, owner.getByLabel(text.staff.email), email);
    await owner.keyboard.press('Enter');
    await expect(owner.getByText(text.staff.sent(email))).toBeVisible();
    await checkOpened(owner, 'staff, with a member who is invited');

    const mail = await mailTo(email);
    expect(mail.subject).toBe(language === 'so' ? 'Waa lagu casuumay' : 'Your invitation to Daawo');
    await reviewer.goto(mail.link);
    await enter(reviewer, text, 'Asha Cali');

    // Both have the list open when the report arrives.
    await open(owner, text, 'reports');
    for (const each of [owner, reviewer])
      await expect(each.getByRole('img', { name: text.inbox.live })).toBeVisible();
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
    await expect(owner.getByText(text.inbox.openAt('Asha Cali')).first()).toBeVisible();
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

    await press(reviewer, reviewer.getByRole('link', { name: text.report.forward }));
    await expect(reviewer.getByRole('heading', { name: text.forward.title })).toBeVisible();
    await checkOpened(reviewer, 'forward');
    await press(reviewer, reviewer.getByRole('button', { name: text.signOut, exact: true }));
    await expect(reviewer.getByRole('button', { name: text.signIn.submit })).toBeVisible();

    await open(owner, text, 'trail');
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
