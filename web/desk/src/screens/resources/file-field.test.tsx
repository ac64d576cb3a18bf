// @vitest-environment jsdom
import { uploadFile } from '@desk/backend/upload-file';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { FileField } from './file-field';
import { valuesOf } from './values';

vi.mock('@desk/backend/upload-file', () => ({ uploadFile: vi.fn() }));
vi.mock('@desk/lib/file-kind', () => ({ fileKind: async () => 'application/msword' }));

test('leaving the form stops its upload, which then changes no draft', async () => {
  let end = (_: object) => {};
  vi.mocked(uploadFile).mockReturnValue(new Promise((resolve) => (end = resolve as typeof end)));
  const onChange = vi.fn();
  const { unmount } = renderDesk(
    <FileField values={valuesOf(undefined)} onChange={onChange} onBusy={() => {}} />,
    'editor',
  );
  await act(async () => {
    fireEvent.change(screen.getByLabelText('File'), { target: { files: [new File(['x'], 'a.doc')] } });
  });
  const signal = vi.mocked(uploadFile).mock.calls[0]?.[2];
  expect(signal?.aborted).toBe(false);
  unmount();
  expect(signal?.aborted).toBe(true);
  await act(async () => end({ file_url: '/a.doc', file_size: 1, file_type: 'application/msword' }));
  expect(onChange).not.toHaveBeenCalled();
});
