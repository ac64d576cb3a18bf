import { supabase } from '@/backend/client';
import { uploadPhoto } from '@/backend/photos';
import { type Receipt, sendReport } from '@/backend/reports';
import type { Language } from '@/i18n/language';
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
  /** The photo that was chosen and the name it was stored under. */
  stored?: { photo: File; name: string };
}

interface Submission {
  values: ReportValues;
  photo: File | undefined;
  language: Language;
  onStep: (step: Step, share?: number) => void;
  onPhotoFailed: () => void;
}

/** A retry keeps the key of the attempt before it; an edited report is another one and gets its own. */
export function attemptFor(values: ReportValues, photo: File | undefined, last?: Attempt): Attempt {
  const sameValues = last && JSON.stringify(last.values) === JSON.stringify(values);
  const samePhoto = last?.stored?.photo === photo;
  if (sameValues && samePhoto) return last;
  return { key: randomKey(), values, stored: photo && samePhoto ? last?.stored : undefined };
}

/** Loads the client ahead of its use. */
export async function warmUp() {
  await supabase();
}

/** Uploads the photo, unless it already is, and sends the report, without the photo if need be. */
export async function submitReport(attempt: Attempt, submission: Submission): Promise<Receipt> {
  const { values, photo, language, onStep, onPhotoFailed } = submission;
  if (photo && !attempt.stored) {
    try {
      onStep('preparingPhoto');
      const small = await shrinkPhoto(photo);
      const name = await uploadPhoto(small, (share) => onStep('uploadingPhoto', share));
      attempt.stored = { photo, name };
    } catch {
      onPhotoFailed();
    }
  }
  onStep('sending');
  const report = toReport(values, parseExpiryDate(values.expiry_date) || null, attempt.stored?.name ?? null);
  return sendReport(report, attempt.key, language);
}

/** crypto.randomUUID is missing where a page is not served over HTTPS. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
