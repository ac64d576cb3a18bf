// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { clearDraft, draftLife, readDraft, saveDraft } from './draft';

beforeEach(() => sessionStorage.clear());

test('a draft lives for thirty idle minutes in this tab only', () => {
  saveDraft({ name: 'a' }, 0);
  expect(readDraft(draftLife - 1)).toEqual({ name: 'a' });
  expect(localStorage).toHaveLength(0);
  expect(readDraft(draftLife)).toBeUndefined();
  expect(sessionStorage).toHaveLength(0);
});

test('a cleared draft is gone', () => {
  saveDraft({ name: 'a' });
  clearDraft();
  expect(readDraft()).toBeUndefined();
});

test('storage that is full, forbidden or damaged does no harm', () => {
  sessionStorage.setItem('daawo.report-draft', '{');
  expect(readDraft()).toBeUndefined();
  const forbid = () => {
    throw new DOMException('forbidden');
  };
  for (const method of ['getItem', 'setItem', 'removeItem'] as const) {
    vi.spyOn(Storage.prototype, method).mockImplementation(forbid);
  }
  saveDraft({ name: 'a' });
  expect(readDraft()).toBeUndefined();
  clearDraft();
  vi.restoreAllMocks();
});
