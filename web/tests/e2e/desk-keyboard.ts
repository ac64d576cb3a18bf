import { type Browser, expect, type Locator, type Page } from '@playwright/test';
import { en, type Text } from '../../desk/src/i18n/en';
import { so } from '../../desk/src/i18n/so';
import { violations } from './axe';
import { deskURL, password } from './desk';

/** Moves the focus to a control by Tab alone. */
async function reach(page: Page, control: Locator) {
  await expect(control).toBeVisible();
  for (let presses = 0; presses < 200; presses++) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${control}`);
}

export async function press(page: Page, control: Locator, key = 'Enter') {
  await reach(page, control);
  await page.keyboard.press(key);
}

export async function type(page: Page, control: Locator, words: string) {
  await reach(page, control);
  await page.keyboard.insertText(words);
}

/** Opens all that opens in place, and fails if axe finds anything. No rule is off. */
export async function checkOpened(page: Page, name: string) {
  const dialog = page.locator('dialog[open]');
  const around = (await dialog.count()) > 0 ? dialog : page; // what is behind a dialog cannot be opened
  const closed = around.locator('button[aria-expanded=false]:visible');
  for (const button of await closed.elementHandles()) {
    if ((await button.getAttribute('aria-expanded')) !== 'false') continue;
    await button.press('Enter');
    await expect.poll(() => button.getAttribute('aria-expanded')).not.toBe('false');
  }
  expect(await violations(page), name).toEqual([]);
}

export async function show(page: Page, text: Text, screen: string) {
  await page.goto(`${deskURL()}/#/${screen}`);
  await expect(page).toHaveURL(new RegExp(`#/${screen}$`));
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  await expect(page.getByText(text.loading)).toHaveCount(0);
}

const sizes = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } };

interface Variant {
  language: 'so' | 'en';
  size: keyof typeof sizes;
}

export const variants: Variant[] = [
  { language: 'so', size: 'phone' },
  { language: 'so', size: 'desktop' },
  { language: 'en', size: 'phone' },
  { language: 'en', size: 'desktop' },
];

export const textOf = ({ language }: Variant): Text => (language === 'en' ? en : so);

/** A browser of a person, in the language and the size. */
export async function person(browser: Browser, { language, size }: Variant) {
  const page = await (await browser.newContext({ viewport: sizes[size] })).newPage();
  await page.addInitScript((chosen) => localStorage.setItem('desk-language', chosen), language);
  return page;
}

export async function enter(page: Page, text: Text, name: string) {
  await expect(page.getByRole('heading', { name: text.signIn.passwordTitle })).toBeVisible();
  await type(page, page.getByLabel(text.signIn.name), name);
  await type(page, page.getByLabel(text.signIn.newPassword), password);
  await checkOpened(page, 'welcome');
  await press(page, page.getByRole('button', { name: text.save }));
  await expect(page.getByRole('navigation')).toBeVisible();
  await expect(page).toHaveURL(/#\/\w/);
}

/** Goes to a screen by its link, on a phone through the list behind the last button if it is there. */
export async function open(page: Page, text: Text, name: keyof Text['nav']) {
  const link = page.getByRole('navigation').getByRole('link', { name: text.nav[name], exact: true });
  const shown = link.filter({ visible: true });
  if ((await shown.count()) === 0)
    await press(page, page.getByRole('button', { name: text.more, exact: true }));
  await press(page, shown);
  await expect(page).toHaveURL(new RegExp(`#/${name}$`));
  await expect(page.getByRole('heading', { level: 1, name: text.nav[name], exact: true })).toBeVisible();
  await expect(page.getByText(text.loading)).toHaveCount(0);
}

/** Opens a dialog by its button, checks it and closes it by Escape. */
export async function checkDialog(page: Page, button: Locator, ready?: (dialog: Locator) => Promise<void>) {
  await press(page, button);
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await ready?.(dialog);
  await checkOpened(page, `dialog of ${button}`);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
}
