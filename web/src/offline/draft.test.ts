// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { clearDraft, draftCleared, readAttempt, readDraft, saveAttempt, saveDraft } from './draft';
import { draftKey, draftLife } from './draft-storage';

beforeEach(() => sessionStorage.clear());

test('a draft lives for thirty idle minutes in this tab only', () => {
  saveDraft({ name: 'a' }, 0);
  expect(readDraft(draftLife - 1)).toEqual({ name: 'a' });
  expect(localStorage).toHaveLength(0);
  expect(readDraft(draftLife)).toBeUndefined();
  expect(sessionStorage).toHaveLength(0);
});

test('a cleared draft is gone, with the report on its way, and the form hears of it', () => {
  const heard = vi.fn();
  addEventListener(draftCleared, heard, { once: true });
  saveDraft({ name: 'a' });
  saveAttempt({ key: 'k' });
  expect(readAttempt()).toEqual({ key: 'k' });
  clearDraft();
  expect(readDraft()).toBeUndefined();
  expect(readAttempt()).toBeUndefined();
  expect(heard).toHaveBeenCalledOnce();
});

test('storage that is full, forbidden or damaged does no harm', () => {
  sessionStorage.setItem(draftKey, '{');
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
