import type { Language } from '@/i18n/language';
import type { DangerSign, SourceId } from './sources';

/** A drawing below a section. Its words are the caption. */
export interface GuideFigure {
  name: 'label' | 'germs' | 'skin' | 'weeks' | 'store' | 'tablets';
  caption: string;
}

/** A block of a guide. */
export type GuideBlock =
  | { type: 'section'; title: string; content: string; figure?: GuideFigure }
  | { type: 'checklist'; items: readonly string[] }
  | { type: 'warning'; content: string };

/** Key of the category's text in the dictionary of the Learn page. */
export type GuideCategory = 'Safety' | 'Medicine' | "Women's Health";

export type GuideIcon = 'label' | 'capsule' | 'cream' | 'mother' | 'calendar' | 'bandage';

export interface Guide {
  slug: string;
  title: string;
  description: string;
  icon: GuideIcon;
  category: GuideCategory;
  /** The guide in one minute: what its content says, in three sentences. */
  minute: readonly string[];
  /** What readers can do at once. */
  now: readonly string[];
  /** The danger signs that this guide's medicines may cause, in the order of the page. */
  signs: readonly DangerSign[];
  content: readonly GuideBlock[];
  sources: readonly SourceId[];
}

/** In the order of the Learn page. */
export const guideSlugs = [
  'how-to-read-labels',
  'antibiotics-guide',
  'skin-cream-dangers',
  'pregnancy-medicine',
  'expired-medicines',
  'pain-management',
] as const;

/**
 * The date of the guides' texts. A pharmacist's sign-off in the desk counts if it is not earlier. The words that a reader
 * sees are texts: `written`, `notReviewed` and `nextReview` in i18n.
 */
export const guideReview = { written: '2026-11-22' };

/** One file per guide and language, so that a page loads only its own guide. */
const files = import.meta.glob<Guide>(['./guides/en/*.ts', './guides/so/*.ts'], { import: 'guide' });

/** Returns null if the guide does not exist or has no text in this language. */
export async function loadGuide(language: Language, slug: string): Promise<Guide | null> {
  return (await files[`./guides/${language}/${slug}.ts`]?.()) ?? null;
}

export async function loadGuides(language: Language): Promise<Guide[]> {
  const guides = await Promise.all(guideSlugs.map((slug) => loadGuide(language, slug)));
  return guides.filter((guide) => guide !== null);
}
