import type { Guide } from '@/content/guides';
import { guide as enAntibiotics } from '@/content/guides/en/antibiotics-guide';
import { guide as enExpired } from '@/content/guides/en/expired-medicines';
import { guide as enLabels } from '@/content/guides/en/how-to-read-labels';
import { guide as enPain } from '@/content/guides/en/pain-management';
import { guide as enPregnancy } from '@/content/guides/en/pregnancy-medicine';
import { guide as enCreams } from '@/content/guides/en/skin-cream-dangers';
import { guide as soAntibiotics } from '@/content/guides/so/antibiotics-guide';
import { guide as soExpired } from '@/content/guides/so/expired-medicines';
import { guide as soLabels } from '@/content/guides/so/how-to-read-labels';
import { guide as soPain } from '@/content/guides/so/pain-management';
import { guide as soPregnancy } from '@/content/guides/so/pregnancy-medicine';
import { guide as soCreams } from '@/content/guides/so/skin-cream-dangers';

/**
 * The guides in the order of the specification. The site imports them with import.meta.glob, which Node does not have.
 */
const english = [enLabels, enAntibiotics, enCreams, enPregnancy, enExpired, enPain];
const somali = [soLabels, soAntibiotics, soCreams, soPregnancy, soExpired, soPain];

export const slugs = english.map(({ slug }) => slug);
export const guides = { en: bySlug(english), so: bySlug(somali) };

function bySlug(all: readonly Guide[]): Record<string, Guide> {
  return Object.fromEntries(all.map((guide) => [guide.slug, guide]));
}
