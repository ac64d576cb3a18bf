import AxeBuilder from '@axe-core/playwright';
import { expect, live, onSlowConnection, test } from './fixtures';
import { inBothLanguages } from './languages';

for (const { language, to } of inBothLanguages) {
  test(`the open menu meets WCAG 2.2 AA (${language})`, async ({ page }) => {
    await onSlowConnection(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(to('/'));
    await page.locator('header summary').click();
    await expect(page.locator('header details nav')).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
      expect(violations.map(({ id }) => id)).toEqual([]);
    }
  });

  test(`buttons have an edge in forced colours (${language})`, async ({ page }) => {
    await page.emulateMedia({ forcedColors: 'active' });
    for (const path of ['/', '/report/', '/resources/', '/contact/', '/women-health/']) {
      await page.goto(to(path));
      if (path === '/resources/') await live(page);
      const filled = page.locator('main .bg-primary, main .bg-henna').filter({ visible: true });
      await expect(filled.first(), path).toBeVisible(); // the list comes after its screen
      for (const each of await filled.all()) await expect(each).toHaveCSS('border-top-style', 'solid');
    }
  });
}
