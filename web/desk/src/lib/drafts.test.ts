import { beforeEach, expect, test, vi } from 'vitest';
import { draftOf, keepDraft, removeDrafts } from './drafts';

beforeEach(() => {
  const kept: Record<string, string> = {};
  Object.defineProperties(kept, {
    getItem: { value: (key: string) => kept[key] ?? null },
    setItem: { value: (key: string, value: string) => void Object.assign(kept, { [key]: value }) },
    removeItem: { value: (key: string) => delete kept[key] },
  });
  vi.stubGlobal('sessionStorage', kept);
});

test('a draft comes back until it is removed', () => {
  keepDraft('me:note:DW-1', 'half');
  keepDraft('me:resource:new', { title: 'A' });
  expect(draftOf('me:note:DW-1')).toBe('half');
  expect(draftOf('me:resource:new')).toEqual({ title: 'A' });
  keepDraft('me:note:DW-1', undefined);
  expect(draftOf('me:note:DW-1')).toBeUndefined();
});

test('another member gets no draft, and the sign-out leaves none', () => {
  sessionStorage.setItem('other', '1');
  keepDraft('me:note:DW-1', 'half');
  keepDraft('meow:note:DW-1', 'half');
  removeDrafts('me');
  expect([draftOf('me:note:DW-1'), draftOf('meow:note:DW-1')]).toEqual(['half', undefined]);
  removeDrafts();
  expect(draftOf('me:note:DW-1')).toBeUndefined();
  expect(sessionStorage.getItem('other')).toBe('1');
});
