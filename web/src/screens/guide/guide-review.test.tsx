// @vitest-environment jsdom
import { act, cleanup, render } from '@testing-library/react';
import { hydrateRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GuideReview } from './guide-review';

const name = 'guide-review/pain-management/en/2026-11-22';
const none = 'Not yet reviewed.';
let answer: (reply: Response) => void;
let refuse: (error: Error) => void;

beforeEach(() => {
  const reply = new Promise<Response>((resolve, reject) => {
    [answer, refuse] = [resolve, reject];
  });
  vi.stubGlobal('fetch', () => reply);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const shown = () => document.querySelector('strong')?.textContent;

test.each([
  ['a review', () => answer(Response.json({ [name]: 'Reviewed by Hodan.' })), 'Reviewed by Hodan.'],
  ['no review', () => answer(Response.json({})), none],
  ['an error', () => answer(new Response('', { status: 503 })), ''],
  ['a lost connection', () => refuse(new Error('offline')), ''],
])('says nothing before the reply, and after it what it knows: %s', async (_, reply, text) => {
  render(<GuideReview name={name} none={none} />);
  expect(shown()).toBe('');
  await act(async () => reply());
  expect(shown()).toBe(text);
});

test('keeps the text that the gateway put into the page, without a warning', async () => {
  const complained = vi.spyOn(console, 'error');
  document.body.innerHTML = '<div><strong>Reviewed by Hodan.</strong></div>';
  const root = document.body.firstElementChild as Element;
  await act(async () => void hydrateRoot(root, <GuideReview name={name} none={none} />));
  expect(shown()).toBe('Reviewed by Hodan.');
  await act(async () => refuse(new Error('offline')));
  expect(shown()).toBe('Reviewed by Hodan.');
  expect(complained).not.toHaveBeenCalled();
});
