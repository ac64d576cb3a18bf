// @vitest-environment jsdom
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Receipt, Report } from '@/backend/reports';
import { clearDraft, readAttempt, saveAttempt, saveDraft } from '@/offline/draft';
import type { ReportValues } from './report';
import { maxCharacters, toReport } from './report';
import { type Attempt, attemptFor, submitReport } from './submit-report';
import { validateReport } from './validate-report';

let duringUpload = () => {};
vi.mock('@/backend/photos', () => ({
  uploadPhoto: async () => {
    duringUpload();
    return '1.jpg';
  },
}));
const lost = async (_report: Report): Promise<Receipt> => {
  throw new Error('connection lost');
};
let send = lost;
vi.mock('@/backend/reports', () => ({ sendReport: (report: Report) => send(report) }));
vi.mock('./shrink-photo', () => ({ shrinkPhoto: (photo: File) => photo }));

const values: ReportValues = {
  name: '',
  country: '252',
  phone: '61 234 5678',
  product_name: 'Cream',
  where_bought: '',
  batch_number: '',
  expiry_date: '',
  location: 'Banaadir, Hodan',
  issue_description: 'It burned.',
};

test('a report has exactly nine fields, empty ones null', () => {
  expect(toReport(values, null, null)).toEqual({
    name: null,
    phone: '+252 61 234 5678',
    product_name: 'Cream',
    batch_number: null,
    expiry_date: null,
    where_bought: null,
    issue_description: 'It burned.',
    location: 'Banaadir, Hodan',
    photo_url: null,
  });
});

test('a number that carries its calling code is sent as it is', () => {
  for (const phone of ['+33 6 12 34 56 78', '0033612345678']) {
    expect(toReport({ ...values, phone }, null, null).phone).toBe(phone);
  }
});

test('lists invalid fields in the order of the form', () => {
  expect(validateReport(values)).toEqual([]);
  const empty = Object.fromEntries(Object.keys(values).map((name) => [name, ''])) as ReportValues;
  expect(validateReport(empty)).toEqual(['phone', 'product_name', 'location', 'issue_description']);
  expect(validateReport({ ...values, expiry_date: 'soon' })).toEqual(['expiry_date']);
  const fits = '😀'.repeat(maxCharacters.issue_description); // the backend counts characters
  expect(validateReport({ ...values, issue_description: fits })).toEqual([]);
  expect(validateReport({ ...values, issue_description: `${fits}a` })).toEqual(['issue_description']);
});

describe('attemptFor', () => {
  beforeEach(() => sessionStorage.clear());

  test('keeps key and photo of an unedited report after a reload', () => {
    const first: Attempt = { ...attemptFor(values, photo), stored: '1.jpg' };
    saveAttempt({ ...first, photo: undefined });
    expect(attemptFor({ ...values }, undefined)).toMatchObject({ key: first.key, stored: '1.jpg' });
    const again = attemptFor(values, new File(['a'], 'a.jpg', { lastModified: photo.lastModified }));
    expect(again).toMatchObject({ key: first.key, stored: '1.jpg' });
    for (const other of [
      attemptFor({ ...values, name: 'Caasha' }, undefined),
      attemptFor(values, new File(['another'], 'a.jpg')),
    ]) {
      expect(other.key).not.toBe(first.key);
      expect(other.stored).toBeUndefined();
    }
  });

  const photo = new File(['a'], 'a.jpg');

  test('gives the same text of a draft one key, also in a copy of the tab, and of the next draft another', () => {
    saveDraft(values);
    const { key } = attemptFor(values, undefined);
    expect(attemptFor({ ...values }, undefined).key).toBe(key);
    expect(attemptFor({ ...values, name: 'Caasha' }, undefined).key).not.toBe(key);
    expect(attemptFor(values, photo).key).not.toBe(key);
    clearDraft();
    saveDraft(values);
    expect(attemptFor(values, undefined).key).not.toBe(key);
  });

  test('returns the same attempt for a retry', () => {
    const first = attemptFor(values, undefined);
    expect(attemptFor({ ...values }, undefined, first)).toBe(first);
    const laidOut = { ...values, phone: '612345678', expiry_date: '08/2026' };
    const typed = attemptFor(laidOut, undefined);
    expect(attemptFor({ ...values, expiry_date: '2026-08-31' }, undefined, typed)).toBe(typed);
  });

  test('makes a new key and keeps the stored photo after an edit', () => {
    const first: Attempt = { ...attemptFor(values, photo), stored: '1.jpg' };
    const second = attemptFor({ ...values, name: 'Caasha' }, photo, first);
    expect(second.key).not.toBe(first.key);
    expect(second.stored).toEqual(first.stored);
  });

  test('makes a new key and drops the stored photo after a change of the photo', () => {
    const first: Attempt = { ...attemptFor(values, photo), stored: '1.jpg' };
    for (const other of [new File(['another'], 'a.jpg'), undefined]) {
      const second = attemptFor(values, other, first);
      expect(second.key).not.toBe(first.key);
      expect(second.stored).toBeUndefined();
    }
  });

  test('keeps a failed photo in mind until an edit', () => {
    const first: Attempt = { ...attemptFor(values, photo), stored: null };
    expect(attemptFor(values, photo, first)).toBe(first);
    expect(attemptFor({ ...values, name: 'Caasha' }, photo, first).stored).toBeUndefined();
  });
});

describe('sessionStorage keeps the report that is being sent', () => {
  const words = { language: 'en', onStep: () => {}, onPhotoFailed: () => {} } as const;
  beforeEach(() => {
    sessionStorage.clear();
    saveDraft(values);
  });

  test('while there is no reply', async () => {
    duringUpload = () => {};
    const attempt = attemptFor(values, new File(['a'], 'a.jpg'));
    await expect(submitReport(attempt, words)).rejects.toThrow();
    expect(readAttempt()).toMatchObject({ key: attempt.key, values, stored: '1.jpg' });
  });

  test.each([
    ['with its photo', false, '1.jpg'],
    ['once, if it has arrived without its photo', true, null],
  ])('and a retry after a lost connection stores the report %s', async (_, arrived, stored) => {
    const onPhotoFailed = vi.fn();
    const attempt = attemptFor(values, new File(['a'], 'a.jpg'));
    duringUpload = () => {
      throw new Error('connection lost');
    };
    await expect(submitReport(attempt, { ...words, onPhotoFailed })).rejects.toThrow();
    expect(onPhotoFailed).toHaveBeenCalledTimes(1);
    duringUpload = () => {};
    send = async ({ photo_url }) => {
      if (arrived && photo_url) throw Object.assign(new Error('changed'), { code: 'idempotency_key_reused' });
      return { id: '1', reference: String(photo_url), received_at: '' };
    };
    const again = attemptFor(values, attempt.photo, attempt);
    const receipt = await submitReport(again, { ...words, onPhotoFailed });
    send = lost;
    expect(again.key).toBe(attempt.key);
    expect(receipt.reference).toBe(String(stored));
    expect(receipt.photo_attached).toBe(arrived ? false : undefined);
  });

  test.each([
    ['cleared', clearDraft],
    ['left by quick exit', () => sessionStorage.clear()],
    ['cleared in an open form', () => saveDraft({ ...values, product_name: '' })],
  ])('but not one that was %s during the upload', async (_, leave) => {
    duringUpload = leave;
    await expect(submitReport(attemptFor(values, new File(['a'], 'a.jpg')), words)).rejects.toThrow();
    expect(JSON.stringify(sessionStorage)).not.toContain(values.product_name);
  });
});
