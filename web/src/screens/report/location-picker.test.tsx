// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { LanguageContext } from '@/i18n/language';
import { loadText } from '@/i18n/text';
import { LocationPicker } from './location-picker';

afterEach(cleanup);

async function show(value: string, required?: boolean) {
  await loadText('en', ['layout', 'report']);
  render(
    <LanguageContext value="en">
      <LocationPicker value={value} onChange={() => {}} required={required} />
    </LanguageContext>,
  );
}

const control = (name: string) => document.getElementById(name);
const label = (name: string) => document.querySelector(`label[for=${name}]`)?.textContent;

test('marks only the region as required', async () => {
  await show('Banaadir', true);
  expect(label('region')).toBe('Region (Gobol) *');
  expect(control('region')?.getAttribute('aria-required')).toBe('true');
  expect(label('district')).toMatch(/^District \(Degmo\) [^*]*$/);
  expect(control('district')?.getAttribute('aria-required')).toBeNull();
});

test('marks nothing as required if the form does not, and hides the district without a region', async () => {
  await show('');
  expect(label('region')).toMatch(/^Region \(Gobol\) [^*]*$/);
  expect(control('region')?.getAttribute('aria-required')).toBeNull();
  expect(control('district')).toBeNull();
});
