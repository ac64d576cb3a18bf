import type { Page } from '@playwright/test';
import { expect, hold, live, onSlowConnection, test } from './fixtures';
import { spokenIn } from './languages';
import { reportForm } from './report-form';

test.use({ allowConsole: /ERR_FAILED|status of 500|could not start/ });

const assets = '**/assets/*.js';

for (const { language, words, to } of spokenIn('en')) {
  const text = words.resources;
  const expectError = async (page: Page) => {
    await expect(page.getByText(text.toasts.loadFailed.description).first()).toBeVisible();
    await expect(page.getByText(text.loading)).toBeHidden();
    await page.getByRole('main').getByRole('link', { name: text.noscriptLink }).click();
    await expect(page).toHaveURL(new RegExp(`${to('/learn/')}$`));
  };

  test.describe(`the list of resources without its scripts in ${language}`, () => {
    test('shows the error and a link to the guides when they fail', async ({ page }) => {
      await page.route(assets, (route) => route.fulfill({ status: 500 }));
      await page.goto(to('/resources/'));
      await expectError(page);
    });

    test('shows the error when they hang, and the list when they arrive later', async ({ page }) => {
      await page.clock.install();
      const release = await hold(page, assets);
      await page.goto(to('/resources/'));
      await expect(page.getByText(text.loading)).toBeVisible();
      await page.clock.runFor(1000); // until boot/live-page.ts has started
      await page.clock.fastForward(16_000);
      await expect(page.getByText(text.toasts.loadFailed.description)).toBeVisible();
      await expect(page.getByText(text.loading)).toBeHidden();
      await page.clock.resume();
      release();
      await live(page);
      await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible();
      await expect(page.getByText(text.toasts.loadFailed.description)).toBeHidden();
    });

    test('shows the error when the code that reads the table hangs', async ({ page }) => {
      await page.clock.install();
      const requested = page.waitForRequest('**/site.json');
      await hold(page, '**/assets/dist-*.js');
      await page.goto(to('/resources/'));
      await live(page);
      await requested;
      await page.clock.fastForward(16_000);
      await expectError(page);
    });

    test('loads what the list needs beside the application', async ({ page }) => {
      const release = await hold(page, '**/assets/resources-screen-*.js');
      const wanted = ['**/site.json', '**/assets/dist-*.js'].map((url) => page.waitForRequest(url));
      await page.goto(to('/resources/'));
      await Promise.all(wanted);
      const addresses: string[] = [];
      page.on('request', (request) => addresses.push(new URL(request.url()).pathname));
      release();
      await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible();
      expect(addresses, 'once').not.toContain('/site.json');
    });

    test('shows the list at the next touch after a part failed', async ({ page }) => {
      let fails = true;
      await page.route('**/assets/resources-screen-*.js', (route) =>
        fails ? route.abort() : route.continue(),
      );
      await page.goto(to('/resources/'));
      await expect(page.getByText(text.toasts.loadFailed.description)).toBeVisible();
      fails = false;
      await page.getByRole('heading', { level: 1 }).click();
      await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible();
    });
  });
}

for (const { language, words, to } of spokenIn('so')) {
  test.describe(`the form without its scripts in ${language}`, () => {
    test('comes alive at the next touch after a part failed, with the typed text', async ({ page }) => {
      await onSlowConnection(page);
      let fails = true;
      await page.route('**/assets/report-screen-*.js', (route) => (fails ? route.abort() : route.continue()));
      await page.goto(to('/report/'));
      const form = reportForm(page, words.report);
      const failed = page.waitForEvent('requestfailed');
      await form.product.fill('Kept cream');
      await failed;
      await expect(page.locator('html')).toHaveAttribute('data-failed');
      fails = false;
      await form.problem.click();
      await live(page);
      await expect(form.product).toHaveValue('Kept cream');
      await form.showOptional();
      await form.calendar.click();
      await expect(page.getByRole('dialog')).toBeVisible();
    });

    test('keeps the typed text in a reload', async ({ page }) => {
      await onSlowConnection(page);
      await page.route(assets, (route) => route.abort());
      await page.goto(to('/report/'));
      const form = reportForm(page, words.report);
      await form.product.fill('Kept cream');
      await form.phone.fill('612345678');
      await page.locator('select[name=location]').selectOption('Bari');
      await form.problem.fill('It burned.');
      await page.reload();
      await expect(form.product).toHaveValue('Kept cream');
      await expect(form.phone).toHaveValue('612345678');
      await expect(page.locator('select[name=location]')).toHaveValue('Bari');
      await expect(form.problem).toHaveValue('It burned.');
    });

    test('keeps text typed into a half page', async ({ page }) => {
      await page.clock.install();
      await page.route(
        `**${to('/report/')}`,
        async (route) => {
          const response = await route.fetch();
          const [half] = (await response.text()).split('name="issue_description"');
          await route.fulfill({ response, body: half });
        },
        { times: 1 },
      );
      await page.goto(to('/report/'));
      const form = reportForm(page, words.report);
      await form.product.fill('Kept cream');
      const again = page.getByRole('button', { name: words.layout.incomplete });
      await page.clock.runFor(13_000);
      await again.click();
      await expect(form.problem).toBeVisible();
      await expect(form.product).toHaveValue('Kept cream');
      await page.clock.runFor(13_000);
      await expect(again).toBeHidden();
    });

    test('is posted when they hang', async ({ page }) => {
      await onSlowConnection(page);
      await page.clock.install();
      await hold(page, assets);
      await page.goto(to('/report/'));
      const form = reportForm(page, words.report);
      await form.phone.fill('612345678');
      await form.product.fill('Plain cream');
      await page.locator('select[name=location]').selectOption('Bari');
      await form.problem.fill('It burned.');
      const posted = page.waitForRequest('**/functions/v1/submit-report');
      await form.submit.click();
      await page.clock.fastForward(16_000);
      expect((await posted).method()).toBe('POST');
      await expect(page).toHaveURL(new RegExp(`${to('/report/thank-you/')}#sent$`));
    });
  });

  test(`a late part of the form comes at the next touch after it failed (${language})`, async ({ page }) => {
    let fails = true;
    await page.route('**/assets/expiry-calendar-*.js', (route) => (fails ? route.abort() : route.continue()));
    await page.goto(to('/report/'));
    const form = reportForm(page, words.report);
    await form.product.focus();
    await live(page);
    await form.showOptional();
    await form.calendar.click();
    await expect(form.expiry).toBeFocused();
    fails = false;
    await form.calendar.click();
    await expect(page.getByRole('dialog')).toBeVisible();
  });
}
