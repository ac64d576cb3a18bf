import { supabase } from '@/backend/client';
import { uploadPhoto } from '@/backend/photos';
import { type Receipt, sendReport } from '@/backend/reports';
import type { Language } from '@/i18n/language';
import { readAttempt, readDraft, saveAttempt } from '@/offline/draft';
import { parseExpiryDate } from './expiry-date';
import { type ReportValues, toReport } from './report';
import { shrinkPhoto } from './shrink-photo';

export type Step = 'preparingPhoto' | 'uploadingPhoto' | 'sending';

/** Comes with the code that sends, so that it is there when it is needed and not before. */
export { ReportReceipt } from './report-receipt';

/** One report on its way: kept while sending fails, so that a retry repeats it instead of doubling it. */
export interface Attempt {
  key: string;
  values: ReportValues;
  photo: File | undefined;
  /** The name that the photo was stored under; null when it could not be, which a retry must not change. */
  stored?: string | null;
}

interface Submission {
  language: Language;
  onStep: (step: Step, share?: number) => void;
  onPhotoFailed: () => void;
}

/**
 * A retry keeps the key of the attempt before it, which is `last` or, after a reload, what the tab remembers; an edited
 * report is another one and gets its own.
 */
export function attemptFor(values: ReportValues, photo: File | undefined, last?: Attempt): Attempt {
  const before = last ?? readAttempt<Attempt>();
  if (before && before.photo === photo && JSON.stringify(before.values) === JSON.stringify(values))
    return before;
  return { key: randomKey(), values, photo, stored: (last?.photo === photo && last?.stored) || undefined };
}

/** Loads the client ahead of its use. */
export async function warmUp() {
  await supabase();
}

/** Uploads the photo, unless it already is, and sends the report, without the photo if need be. */
export async function submitReport(attempt: Attempt, submission: Submission): Promise<Receipt> {
  const { language, onStep, onPhotoFailed } = submission;
  const { values, photo } = attempt;
  if (photo && attempt.stored === undefined) {
    try {
      onStep('preparingPhoto');
      const smaller = await shrinkPhoto(photo);
      onStep('uploadingPhoto', 0);
      attempt.stored = await uploadPhoto(smaller, (share) => onStep('uploadingPhoto', share));
    } catch {
      attempt.stored = null;
      onPhotoFailed();
    }
  }
  onStep('sending');
  // Meanwhile the reader may have cleared the form or left quickly: what is forgotten is not written again.
  if (JSON.stringify(readDraft()) === JSON.stringify(values)) saveAttempt({ ...attempt, photo: undefined });
  const report = toReport(values, parseExpiryDate(values.expiry_date) || null, attempt.stored ?? null);
  return sendReport(report, attempt.key, language);
}

/** crypto.randomUUID is missing where a page is not served over HTTPS. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
