import { supabase } from '@/backend/client';
import { uploadPhoto } from '@/backend/photos';
import { type Receipt, sendReport } from '@/backend/reports';
import type { Language } from '@/i18n/language';
import { randomKey } from '@/lib/random-key';
import { draftSeed, readAttempt, readDraft, saveAttempt } from '@/offline/draft';
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
  /** The name of the stored photo. null means that storing it failed. */
  stored?: string | null;
  /** Whether the report was sent without its photo: the backend may have it so under this key. */
  withoutPhoto?: boolean;
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
  // Two tabs store a photo under two names, so their reports differ.
  const key = before || photo ? randomKey() : keyOfDraft(values);
  return { key, values, photo, photoPrint, stored, claim };
}

/** Returns a key that is the same for the same text of a draft, also in a copy of the tab. */
function keyOfDraft(values: ReportValues) {
  const seed = draftSeed();
  if (!seed) return randomKey();
  let hash = 0x811c9dc5; // FNV-1a: it only tells the edits of one draft apart
  for (const sign of JSON.stringify(values)) hash = Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 0x01000193);
  return `${seed}-${hash >>> 0}`;
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
 * Uploads the photo, if that is not done, and sends the report. If the upload fails, it sends the report without it, and
 * a retry uploads the photo again.
 */
export async function submitReport(attempt: Attempt, submission: Submission): Promise<Receipt> {
  const { language, onStep, onPhotoFailed, signal } = submission;
  const { values, photo } = attempt;
  if (photo && !attempt.stored) {
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
      attempt.withoutPhoto = true;
      onPhotoFailed();
    }
  }
  signal?.throwIfAborted();
  onStep('sending');
  // The reader may have cleared the form or used the quick exit since: do not store deleted data again.
  if (JSON.stringify(readDraft()) === JSON.stringify(values)) saveAttempt({ ...attempt, photo: undefined });
  const send = () => {
    const report = toReport(values, parseExpiryDate(values.expiry_date) || null, attempt.stored ?? null);
    return sendReport(report, { key: attempt.key, language, claim: attempt.claim, signal });
  };
  const receipt = await send().catch((error) => {
    if (!attempt.withoutPhoto || !attempt.stored || error.code !== 'idempotency_key_reused') throw error;
    attempt.stored = null; // the report has arrived without its photo, only the reply was lost
    onPhotoFailed();
    return send();
  });
  // The message about the upload is gone after some seconds.
  return attempt.stored === null ? { ...receipt, photo_attached: false } : receipt;
}
