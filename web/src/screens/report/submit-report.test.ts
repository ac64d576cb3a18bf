// @vitest-environment jsdom
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clearDraft, readAttempt, saveAttempt, saveDraft } from '@/offline/draft';
import type { ReportValues } from './report';
import { toReport } from './report';
import { type Attempt, attemptFor, submitReport } from './submit-report';
import { validateReport } from './validate-report';

let duringUpload = () => {};
vi.mock('@/backend/photos', () => ({
  uploadPhoto: async () => {
    duringUpload();
    return '1.jpg';
  },
}));
vi.mock('@/backend/reports', () => ({ sendReport: () => Promise.reject(new Error('connection lost')) }));
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

  test('uploads a failed photo again only after an edit', () => {
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

  test('reports a failed photo at each attempt', async () => {
    const onPhotoFailed = vi.fn();
    const attempt: Attempt = { ...attemptFor(values, new File(['a'], 'a.jpg')), stored: null };
    await expect(submitReport(attempt, { ...words, onPhotoFailed })).rejects.toThrow();
    saveAttempt({ ...attempt, photo: undefined });
    const again = attemptFor(values, attempt.photo);
    await expect(submitReport(again, { ...words, onPhotoFailed })).rejects.toThrow();
    expect(onPhotoFailed).toHaveBeenCalledTimes(2);
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
