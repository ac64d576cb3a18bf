// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { keyEffect } from './key-effect';

beforeEach(() => {
  document.body.innerHTML = `
    <main><p id="text">x</p><input id="field"><select id="select"></select>
    <div contenteditable=""><b id="edited">x</b></div>
    <dialog><button id="button">x</button><input id="asked"></dialog></main>`;
});

const press = (key: string, init: KeyboardEventInit = {}) => new KeyboardEvent('keydown', { key, ...init });
const at = (id: string) => document.getElementById(id) as HTMLElement;

test.each([
  ['j', 'text', 'act'],
  ['Escape', 'text', 'act'],
  ['j', 'field', 'none'],
  ['1', 'select', 'none'],
  ['j', 'edited', 'none'],
  ['Escape', 'field', 'leave'],
  ['Escape', 'edited', 'leave'],
])('%s at the %s: %s', (key, id, effect) => {
  expect(keyEffect(press(key), at(id))).toBe(effect);
});

test.each(['button', 'asked', 'text'])('no key acts at the %s while a dialog is open', (id) => {
  document.querySelector('dialog')?.setAttribute('open', '');
  for (const key of ['j', '1', 'Escape']) expect(keyEffect(press(key), at(id))).toBe('none');
});

test.each([{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }])(
  'nothing happens with %j',
  (init) => {
    expect(keyEffect(press('a', init), at('text'))).toBe('none');
  },
);

test('only paging through the list repeats while a key is held', () => {
  const effects = ['j', 'k', 'a', '1'].map((key) => keyEffect(press(key, { repeat: true }), at('text')));
  expect(effects).toEqual(['act', 'act', 'none', 'none']);
});
