// @vitest-environment jsdom
import { cleanup, configure, render, waitFor } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { afterEach, expect, test } from 'vitest';
import { LanguageContext } from '@/i18n/language';
import { loadText } from '@/i18n/text';
import { PhoneField } from './phone-field';

configure({ asyncUtilTimeout: 30_000 }); // the processor may be busy

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
});

/** Returns the controls of a prerendered field that was touched before it was hydrated. */
async function hydratedAfter(touch: (number: HTMLInputElement, country: HTMLSelectElement) => void) {
  await loadText('en', ['layout', 'report']);
  const field = (
    <LanguageContext value="en">
      <PhoneField />
    </LanguageContext>
  );
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = renderToString(field);
  const number = container.querySelector('input') as HTMLInputElement;
  const country = container.querySelector('select') as HTMLSelectElement;
  touch(number, country);
  render(field, { container, hydrate: true });
  return { number, country };
}

test.each([
  ['612345678', '252', '61 234 5678'],
  ['+44 7911 123456', '44', '7911 123456'],
])('a number typed before hydration gets its form: %s', async (typed, code, formatted) => {
  const { number, country } = await hydratedAfter((input) => {
    input.value = typed;
  });
  await waitFor(() => expect([country.value, number.value]).toEqual([code, formatted]));
});

test.each(['number', 'country'] as const)(
  'a focus before hydration loads all countries: %s',
  async (name) => {
    const { country } = await hydratedAfter((number, select) => ({ number, country: select })[name].focus());
    await waitFor(() => expect(country.options.length).toBeGreaterThan(200));
  },
);

test('a number is not changed while the cursor is inside it', async () => {
  const { number, country } = await hydratedAfter((input) => {
    input.value = '612345678';
    input.focus();
    input.setSelectionRange(2, 2);
  });
  await waitFor(() => expect(country.options.length).toBeGreaterThan(200));
  expect([number.value, number.selectionStart]).toEqual(['612345678', 2]);
});

test('an untouched field loads no more countries', async () => {
  const { country } = await hydratedAfter(() => {});
  await new Promise((done) => setTimeout(done, 50));
  expect(country.options.length).toBe(1);
});
