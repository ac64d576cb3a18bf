// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { clearDraft, draftCleared, readAttempt, readDraft, saveAttempt, saveDraft } from './draft';
import { draftKey, draftLife } from './draft-storage';

beforeEach(() => sessionStorage.clear());

test('a draft expires after thirty minutes and is in sessionStorage only', () => {
  saveDraft({ name: 'a' }, 0);
  expect(readDraft(draftLife - 1)).toEqual({ name: 'a' });
  expect(localStorage).toHaveLength(0);
  expect(readDraft(draftLife)).toBeUndefined();
  expect(sessionStorage).toHaveLength(0);
});

test('a draft from before the clock was set back expires thirty minutes later', () => {
  const year = 365 * 24 * 60 * 60 * 1000;
  saveDraft({ name: 'a' }, year);
  expect(readDraft(0)).toEqual({ name: 'a' });
  expect(readDraft(draftLife)).toBeUndefined();
});

test('clearing deletes draft and attempt and fires the event', () => {
  const listener = vi.fn();
  addEventListener(draftCleared, listener, { once: true });
  saveDraft({ name: 'a' });
  saveAttempt({ key: 'k' });
  expect(readAttempt()).toEqual({ key: 'k' });
  clearDraft();
  expect(readDraft()).toBeUndefined();
  expect(readAttempt()).toBeUndefined();
  expect(listener).toHaveBeenCalledOnce();
});

test('tolerates full, forbidden and damaged storage', () => {
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
