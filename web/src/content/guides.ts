import type { Language } from '@/i18n/language';

export async function loadGuide(_language: Language, _slug: string): Promise<null> {
  return null;
}
