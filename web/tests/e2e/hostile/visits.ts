import { expect, type Page } from '@playwright/test';
import type { Dictionary } from '@/i18n/en';
import { reportForm } from '../report-form';
import { reportsNamed } from '../stack';
import type { HostileProxy } from './proxy';

/** A visit of one page, with the actions that cause its requests. It throws if the page is stuck or loses typed text. */
export interface Visit {
  page: Page;
  proxy: HostileProxy;
  words: Dictionary;
  path: string;
  to: (path: string) => string;
  /** The messages of the page's alerts. */
  alerts: string[];
  product: string;
  photo: Buffer;
}

/**
 * Lets the page's time run until `done`, at most two and a half minutes. Requests that pass get the real time that they
 * need.
 */
export async function untilDone(
  { page, proxy }: Pick<Visit, 'page' | 'proxy'>,
  done: () => Promise<boolean>,
) {
  for (let seconds = 0; seconds < 150; seconds += 5) {
    await proxy.idle();
    if (await done()) return true;
    await page.clock.fastForward(5000).catch(() => {}); // the page may be leaving
  }
  return done();
}

/** Fails if a visible part of the page says that something is under way. */
export async function expectNothingLoading({ page, words }: Visit) {
  const { submitting, sending, preparingPhoto, uploadingPhoto, stillTrying } = words.report;
  for (const text of [
    words.resources.loading,
    submitting,
    sending,
    preparingPhoto,
    uploadingPhoto,
    stillTrying,
  ])
    await expect(page.getByText(text).filter({ visible: true })).toHaveCount(0);
  const busy = page.locator('[aria-busy=true]:visible, progress:visible, [class*=animate-spin]:visible');
  await expect(busy).toHaveCount(0);
}

function headingOf(page: Page) {
  return page.getByRole('heading', { level: 1 }).filter({ visible: true });
}

/** A page without a form or a list: it can be read, and its links work. */
export async function visitContent(visit: Visit) {
  const { page, path, to } = visit;
  await page.goto(path, { waitUntil: 'commit' });
  await expect(headingOf(page)).not.toBeEmpty();
  await page
    .locator(`a[href="${to('/report/')}"]:visible`)
    .first()
    .dispatchEvent('pointerover');
  await visit.proxy.idle();
  await expectNothingLoading(visit);
  await page
    .locator(`a[href="${to('/contact/')}"]:visible`)
    .first()
    .click();
  await page.waitForURL(`**${to('/contact/')}`, { waitUntil: 'commit' });
}

/**
 * A page whose own document is cut: a button says that a part is missing, and it loads the whole page. The page says
 * nothing of loading, typed text stays, and the quick exit works.
 */
export async function visitCut(visit: Visit) {
  const { page, path, proxy, words, product } = visit;
  await page.goto(path, { waitUntil: 'commit' });
  await proxy.idle();
  const typed = page.locator('main form[data-live] [name=product_name]');
  const canType = path.endsWith('/report/') && (await typed.isVisible());
  if (canType) await typed.fill(product);
  const again = page.getByRole('alert').getByRole('button', { name: words.layout.incomplete });
  expect(await untilDone(visit, () => again.isVisible()), 'the button that loads the page again').toBe(true);
  await expectNothingLoading(visit);
  proxy.heal();
  await again.click();
  await expect(page.getByRole('contentinfo')).toBeVisible();
  await expect(headingOf(page)).not.toBeEmpty();
  await page.clock.fastForward(20_000);
  await expect(again).toBeHidden();
  if (canType) await expect(typed).toHaveValue(product);
}

/** The list: it is shown, or the error with a link to the guides; a download ends; links lead on. */
export async function visitResources(visit: Visit) {
  const { page, path, to, words } = visit;
  const { title, loadFailed } = { title: words.resources.title, ...words.resources.toasts };
  await page.goto(path, { waitUntil: 'commit' });
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  const download = page.getByRole('main').getByRole('listitem').getByRole('button').first();
  const error = page.getByRole('main').getByText(loadFailed.description);
  const shown = async () => (await download.isVisible()) || (await error.isVisible());
  expect(await untilDone(visit, shown), 'the list or its error').toBe(true);
  await expectNothingLoading(visit);
  if (await download.isVisible()) {
    await download.click();
    expect(await untilDone(visit, () => download.isEnabled()), 'the end of the download').toBe(true);
  }
  await followLinks(visit);
  visit.proxy.heal();
  await page.goto(to('/resources/'));
  await expect(download).toBeVisible();
}

/** Follows the links to the guides and to one of them: in the application, if that runs. */
async function followLinks(visit: Visit) {
  const { page, to, words } = visit;
  const guide = to('/learn/antibiotics-guide/');
  await page
    .locator(`a[href="${to('/learn/')}"]:visible`)
    .first()
    .click();
  const learn = page.getByRole('heading', { level: 1, name: words.learn.heading });
  expect(await untilDone(visit, () => learn.isVisible()), 'the guides').toBe(true);
  await page.getByRole('main').locator(`a[href="${guide}"]`).click();
  const back = page.getByRole('main').getByText(words.guide.back);
  const arrived = async () => page.url().endsWith(guide) && (await back.first().isVisible());
  expect(await untilDone(visit, arrived), 'the guide').toBe(true);
  await expectNothingLoading(visit);
}

/** The form: typed text stays until the report is sent, and at the end exactly one report is stored. */
export async function visitReport(visit: Visit) {
  const { page, path, product, proxy, words } = visit;
  const form = reportForm(page, words.report);
  await page.goto(path, { waitUntil: 'commit' });
  await fillForm(visit);
  await form.submit.click();
  const sent = () => isSent(visit);
  const ended = async () => (await sent()) || (await isRefused(visit));
  expect(await untilDone(visit, ended), 'the end of sending').toBe(true);
  await expectNothingLoading(visit);
  if (!(await sent())) {
    proxy.heal();
    if (!page.url().endsWith(path)) await page.goto(path); // the browser's own error page
    await expect(form.product).toHaveValue(product);
    await expect(form.problem).toHaveValue('It made the skin burn.');
    await expect(form.phone).toHaveValue(/^61/);
    await expect(page.locator('[name=location]')).toHaveValue('Bari');
    await expect(form.submit).toBeEnabled();
    await form.submit.click();
    await expect.poll(sent).toBe(true);
  }
  expect(await reportsNamed(product), 'stored reports').toHaveLength(1);
}

async function fillForm(visit: Visit) {
  const { page, photo, product, words } = visit;
  const form = reportForm(page, words.report);
  await form.phone.fill('612345678');
  await form.product.fill(product);
  await form.problem.fill('It made the skin burn.');
  const root = page.locator('html');
  await untilDone(
    visit,
    async () =>
      (await root.getAttribute('data-live')) !== null || (await root.getAttribute('data-failed')) !== null,
  );
  await chooseBari(visit);
  if (!(await form.calendar.isVisible())) await form.more.click();
  await form.calendar.click();
  const calendar = page.getByRole('dialog');
  const focused = () => form.expiry.evaluate((input) => input === document.activeElement);
  const usable = async () =>
    (await calendar.isVisible()) || (await focused()) || (await root.getAttribute('data-failed')) !== null;
  expect(await untilDone(visit, usable), 'the calendar, or the field').toBe(true);
  if (await calendar.isVisible()) await page.keyboard.press('Escape');
  await form.photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer: photo });
}

/** Chooses a region in the list, or in the plain field if the list is missing. */
async function chooseBari(visit: Visit) {
  const { page, words } = visit;
  const form = reportForm(page, words.report);
  const plain = page.locator('select[name=location]');
  const option = page.getByRole('option', { name: 'Bari (Bari)', exact: true });
  if (!(await plain.isVisible())) await form.region.click();
  const open = async () => (await plain.isVisible()) || (await option.isVisible());
  expect(await untilDone(visit, open), 'a list of places').toBe(true);
  if (await plain.isVisible()) await plain.selectOption('Bari');
  else await option.click();
}

async function isSent({ page, path }: Visit) {
  return page.url().endsWith(`${path}thank-you/#sent`) || (await page.locator('[data-receipt]').isVisible());
}

/** Reports whether the page says that the report was not sent. */
async function isRefused({ page, words, alerts }: Visit) {
  const { title } = words.report.toasts.failed;
  if (alerts.some((message) => message.includes(title))) return true;
  if (page.url().startsWith('chrome-error:')) return true;
  return page.getByText(title).first().isVisible();
}
