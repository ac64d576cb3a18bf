import type { Page } from '@playwright/test';
import type { Dictionary } from '@/i18n/en';
import { live } from './fixtures';

/** Opens the report page in a language and waits for hydration. */
export async function openForm(page: Page, to: (path: string) => string) {
  await page.goto(to('/report/'));
  await live(page);
}

/** The controls of the report form, by their labels. */
export function reportForm(page: Page, text: Dictionary['report']) {
  const field = (label: string) => page.getByLabel(label, { exact: false });
  return {
    name: field(text.name),
    country: page.getByLabel(text.country),
    phone: page.getByRole('textbox', { name: text.phone }),
    product: field(text.productName),
    bought: field(text.whereBought),
    batch: field(text.batchNumber),
    expiry: page.getByRole('textbox', { name: text.expiryDate }),
    calendar: page.getByRole('button', { name: text.pickDate }),
    region: page.getByRole('combobox', { name: new RegExp(`^${text.region}`) }),
    district: page.getByRole('combobox', { name: new RegExp(`^${text.district}`) }),
    problem: field(text.problem),
    photo: page.locator('input[type=file]'),
    submit: page.getByRole('button', { name: text.submit }),
    submitting: page.getByRole('button', { name: text.submitting }),
    clear: page.getByRole('button', { name: text.clearDraft }),
    summary: page.getByRole('group', { name: text.errorSummary }),

    more: page.getByText(text.more),

    /** Opens the fold with the optional fields. */
    async showOptional() {
      if (!(await this.name.isVisible())) await this.more.click();
    },

    async chooseRegion(label: string) {
      await this.region.click();
      await page.getByRole('option', { name: label, exact: true }).click();
    },

    /** Fills the required fields. */
    async fillRequired(product: string) {
      await this.phone.fill('612345678');
      await this.product.fill(product);
      await this.chooseRegion('Banaadir (Banaadir)');
      await this.problem.fill('It made the skin burn.');
    },
  };
}

export function toastOf(page: Page, notifications: string) {
  const region = page.getByRole('region', { name: notifications });
  return (message: { title: string; description: string }) =>
    region
      .locator('[data-sonner-toast]')
      .filter({ hasText: message.title })
      .filter({ hasText: message.description });
}
