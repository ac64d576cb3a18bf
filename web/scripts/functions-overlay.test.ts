// @vitest-environment jsdom
import { afterEach, expect, it } from 'vitest';
import { watchFunctions } from './functions-overlay';

const original = window.fetch;
afterEach(() => {
  window.fetch = original;
});

class Overlay extends HTMLElement {
  constructor(error: { message: string } = { message: '' }) {
    super();
    this.textContent = error.message;
  }
}

it('shows the compiler error of a reply and removes it after the fix', async () => {
  customElements.define('vite-error-overlay', Overlay);
  let headers: HeadersInit = { 'x-functions-problem': encodeURIComponent('func.go:12: undefined: x') };
  window.fetch = async () => new Response('{}', { headers });
  watchFunctions('x-functions-problem');
  await window.fetch('/functions/v1/hello');
  await window.fetch('/functions/v1/hello');
  const shown = document.querySelectorAll('vite-error-overlay');
  expect([...shown].map((o) => o.textContent?.includes('func.go:12: undefined: x'))).toEqual([true]);
  headers = {};
  await window.fetch('/functions/v1/hello');
  expect(document.querySelector('vite-error-overlay')).toBeNull();
});
