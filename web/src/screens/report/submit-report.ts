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
  /** What the photo is known by after a reload, when its reader chooses it again. */
  photoPrint: string | undefined;
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
 * report is another one and gets its own. A reload takes the photo out of the form, but not out of the report.
 */
export function attemptFor(values: ReportValues, photo: File | undefined, last?: Attempt): Attempt {
  const photoPrint = photo && `${photo.name} ${photo.size} ${photo.lastModified}`;
  const before = last ?? readAttempt<Attempt>();
  const samePhoto = before?.photoPrint === photoPrint || (!last && !photo);
  if (before && samePhoto && said(before.values) === said(values)) return last ?? { ...before, photo };
  const stored = (last && samePhoto && last.stored) || undefined;
  return { key: randomKey(), values, photo, photoPrint, stored };
}

/** What a report says, however its date and its number were laid out when their fields were left. */
function said(values: ReportValues) {
  const report = toReport(values, parseExpiryDate(values.expiry_date) || null, null);
  return JSON.stringify({ ...report, phone: report.phone?.replace(/\D/g, '') });
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
  } else if (photo && !attempt.stored) onPhotoFailed(); // again: the form still shows it
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
