// @vitest-environment jsdom
import { type Guide, reviewGuide } from '@desk/backend/guides';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { ReviewPanel } from './review-panel';

vi.mock('@desk/backend/guides', () => ({ reviewGuide: vi.fn(async () => true) }));
vi.mock('@desk/session/verify-factor', () => ({
  VerifyFactor: ({ onDone }: { onDone: () => void }) => (
    <button type="button" onClick={onDone}>
      verify
    </button>
  ),
}));

const guide = { slug: 'pain', title: 'Pain', title_so: 'Xanuun', version: 3 } as Guide;

test('a sign-off names the version that was there when its dialog opened', async () => {
  const { rerender } = renderDesk(<ReviewPanel guide={guide} onReviewed={() => {}} />);
  fireEvent.click(screen.getByText('Sign off'));
  fireEvent.change(screen.getByLabelText(/Your profession/), { target: { value: 'Pharmacist' } });
  rerender(<ReviewPanel guide={{ ...guide, version: 4 }} onReviewed={() => {}} />);
  await act(async () => fireEvent.click(screen.getByText('verify')));
  expect(vi.mocked(reviewGuide).mock.calls.map(([seen]) => seen.version)).toEqual([3]);
});

test('the dialog has the title in the language of the reader', () => {
  localStorage.setItem('desk-language', 'so');
  renderDesk(<ReviewPanel guide={guide} onReviewed={() => {}} />);
  fireEvent.click(screen.getAllByRole('button')[0] as HTMLElement);
  expect(screen.getByRole('dialog').textContent).toContain('Xanuun');
});
