import { supabase } from '@/backend/client';
import { uploadPhoto } from '@/backend/photos';
import { type Receipt, sendReport } from '@/backend/reports';
import type { Language } from '@/i18n/language';
import { readAttempt, readDraft, saveAttempt } from '@/offline/draft';
import { parseExpiryDate } from './expiry-date';
import { type ReportValues, toReport } from './report';
import { shrinkPhoto } from './shrink-photo';

export type Step = 'preparingPhoto' | 'uploadingPhoto' | 'sending';

/** Exported here so that it is loaded together with the code that sends. */
export { ReportReceipt } from './report-receipt';

/** One report that is being sent. It is kept while sending fails, so that a retry does not create a second report. */
export interface Attempt {
  key: string;
  values: ReportValues;
  photo: File | undefined;
  /** Identifies the photo if it is chosen again after a reload. */
  photoPrint: string | undefined;
  /** The name of the stored photo. null means that storing it failed; a retry must then send none either. */
  stored?: string | null;
  /** Random text that connects the stored photo with this report. */
  claim?: string;
}

interface Submission {
  language: Language;
  onStep: (step: Step, share?: number) => void;
  onPhotoFailed: () => void;
  signal?: AbortSignal;
}

/**
 * Returns the attempt to send these values. A retry has the key of the attempt before it, which is `last` or, after a
 * reload, the one in sessionStorage. An edited report gets a new key. A reload empties the photo field, but the retry
 * still has the stored photo.
 */
export function attemptFor(values: ReportValues, photo: File | undefined, last?: Attempt): Attempt {
  const photoPrint = photo && `${photo.name} ${photo.size} ${photo.lastModified}`;
  const before = last ?? readAttempt<Attempt>();
  const samePhoto = before?.photoPrint === photoPrint || (!last && !photo);
  if (before && samePhoto && contentOf(before.values) === contentOf(values))
    return last ?? { ...before, photo };
  const stored = (last && samePhoto && last.stored) || undefined;
  const claim = stored ? last?.claim : undefined;
  return { key: randomKey(), values, photo, photoPrint, stored, claim };
}

/** Returns the content of a report, independent of the format of its date and phone number. */
function contentOf(values: ReportValues) {
  const report = toReport(values, parseExpiryDate(values.expiry_date) || null, null);
  return JSON.stringify({ ...report, phone: report.phone?.replace(/\D/g, '') });
}

/** Loads the client before it is needed. */
export async function warmUp() {
  await supabase();
}

/**
 * Uploads the photo, if that is not done, and sends the report. If the upload fails, it sends the report without it.
 */
export async function submitReport(attempt: Attempt, submission: Submission): Promise<Receipt> {
  const { language, onStep, onPhotoFailed, signal } = submission;
  const { values, photo } = attempt;
  if (photo && attempt.stored === undefined) {
    try {
      onStep('preparingPhoto');
      const smaller = await shrinkPhoto(photo);
      onStep('uploadingPhoto', 0);
      const claim = randomKey();
      attempt.stored = await uploadPhoto(smaller, claim, (share) => onStep('uploadingPhoto', share), signal);
      attempt.claim = claim;
    } catch {
      signal?.throwIfAborted();
      attempt.stored = null;
      onPhotoFailed();
    }
  } else if (photo && !attempt.stored) onPhotoFailed(); // repeat it: the form still shows the photo
  signal?.throwIfAborted();
  onStep('sending');
  // The reader may have cleared the form or used the quick exit since: do not store deleted data again.
  if (JSON.stringify(readDraft()) === JSON.stringify(values)) saveAttempt({ ...attempt, photo: undefined });
  const report = toReport(values, parseExpiryDate(values.expiry_date) || null, attempt.stored ?? null);
  const receipt = await sendReport(report, { key: attempt.key, language, claim: attempt.claim, signal });
  // The message about the upload is gone after some seconds.
  return attempt.stored === null ? { ...receipt, photo_attached: false } : receipt;
}

/** crypto.randomUUID is missing where a page is not served over HTTPS. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
