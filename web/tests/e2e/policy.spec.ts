import type { Page } from '@playwright/test';
import { expect, live, test } from './fixtures';
import { spokenIn } from './languages';
import { reportForm, toastOf } from './report-form';

test.use({ serviceWorkers: 'allow' });

/** Violations of the Content-Security-Policy, by directive. */
async function breaches(page: Page) {
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { breaches: seen });
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
      seen.push(`${effectiveDirective} ${blockedURI}`),
    );
  });
  return () => page.evaluate(() => (globalThis as unknown as { breaches: string[] }).breaches);
}

for (const { language, words, to } of spokenIn('so')) {
  test(`toast, list and calendar cause no violation (${language})`, async ({ page }) => {
    const seen = await breaches(page);
    const response = await page.goto(to('/report/'));
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self' 'sha256-[^;]+;/);
    expect(policy.replace("style-src-attr 'unsafe-inline'", '')).not.toContain('unsafe');

    await live(page);
    const form = reportForm(page, words.report);
    await form.submit.click();
    const toast = toastOf(page, words.layout.notifications)(words.report.toasts.invalid);
    await expect(toast).toBeVisible();
    await expect(toast).toHaveCSS('position', 'absolute'); // sonner's <style> is applied
    await toast.getByRole('button', { name: words.layout.dismiss }).click();
    await expect(toast).toBeHidden();
    await form.region.click();
    await expect(page.getByRole('listbox')).toBeVisible();
    await page.keyboard.press('Escape');
    await form.showOptional();
    await form.calendar.click();
    await expect(page.getByRole('dialog')).toBeVisible();
    expect(await seen()).toEqual([]);
  });
}

test.describe('injected script', () => {
  test.use({ allowConsole: /Content Security Policy/ });

  test('does not run and is reported', async ({ page }) => {
    const seen = await breaches(page);
    await page.goto('/');
    await page.evaluate(() => {
      const script = Object.assign(document.createElement('script'), {
        textContent: 'document.title = "taken"',
      });
      const style = Object.assign(document.createElement('style'), { textContent: 'body { display: none }' });
      document.head.append(script, style);
    });
    await expect
      .poll(async () => (await seen()).sort())
      .toEqual(['script-src-elem inline', 'style-src-elem inline']);
    await expect(page).not.toHaveTitle('taken');
    await expect(page.locator('body')).toBeVisible();
  });
});
