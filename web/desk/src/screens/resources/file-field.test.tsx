// @vitest-environment jsdom
import { uploadFile } from '@desk/backend/upload-file';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { FileField } from './file-field';
import { valuesOf } from './values';

vi.mock('@desk/backend/upload-file', () => ({ uploadFile: vi.fn() }));
vi.mock('@desk/lib/first-page', () => ({ firstPage: async () => undefined }));
vi.mock('@desk/lib/file-kind', () => ({ fileKind: async () => 'application/msword' }));

beforeEach(() => vi.mocked(uploadFile).mockReset());

const stored = (name: string) => ({ file_url: `/${name}`, file_size: 1, file_type: 'application/msword' });
const fileOf = (name: string) => new File(['x'], name);
const dropAll = (...names: string[]) =>
  fireEvent.drop(screen.getByText(/PDF, picture/), { dataTransfer: { files: names.map(fileOf) } });

test('a file that is dropped while another is uploaded is refused with a message, and the first is stored', async () => {
  let end = (_: object) => {};
  vi.mocked(uploadFile).mockReturnValue(new Promise((resolve) => (end = resolve as typeof end)));
  const onChange = vi.fn();
  const onBusy = vi.fn();
  renderDesk(<FileField values={valuesOf(undefined)} onChange={onChange} onBusy={onBusy} />, 'editor');
  await act(async () => {
    dropAll('a.doc');
    dropAll('b.doc'); // before the kind of the first is known
  });
  await act(async () => {
    const input = screen.getByLabelText('File', { selector: 'input' });
    fireEvent.change(input, { target: { files: [fileOf('c.doc')] } });
  });
  expect(vi.mocked(uploadFile).mock.calls.map(([file]) => file.name)).toEqual(['a.doc']);
  expect(screen.getByRole('alert').textContent).toContain('Another file is being uploaded.');
  expect(vi.mocked(uploadFile).mock.calls[0]?.[2].aborted).toBe(false);
  expect(onBusy.mock.calls).toEqual([[true]]);
  await act(async () => end(stored('a.doc')));
  expect(onChange.mock.calls).toEqual([[{ ...stored('a.doc'), preview_url: null }]]);
  expect(onBusy.mock.calls).toEqual([[true], [false]]);
  expect(screen.queryByRole('alert')).toBeNull();

  vi.mocked(uploadFile).mockResolvedValue(stored('d.doc'));
  await act(async () => {
    dropAll('d.doc');
  });
  expect(onChange).toHaveBeenLastCalledWith({ ...stored('d.doc'), preview_url: null });
});

test('two files at once are refused, because a resource has one', async () => {
  renderDesk(<FileField values={valuesOf(undefined)} onChange={() => {}} onBusy={() => {}} />, 'editor');
  await act(async () => {
    dropAll('a.doc', 'b.doc');
  });
  expect(uploadFile).not.toHaveBeenCalled();
  expect(screen.getByRole('alert').textContent).toBe('A resource has one file. Choose one.');
});

test('a refused file leaves the field free for the next', async () => {
  vi.mocked(uploadFile).mockRejectedValueOnce(new Error('lost')).mockResolvedValue(stored('b.doc'));
  const onChange = vi.fn();
  renderDesk(<FileField values={valuesOf(undefined)} onChange={onChange} onBusy={() => {}} />, 'editor');
  await act(async () => {
    dropAll('a.doc');
  });
  await act(async () => {
    dropAll('b.doc');
  });
  expect(onChange).toHaveBeenCalledTimes(1);
});

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
