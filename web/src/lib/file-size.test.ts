import { expect, test } from 'vitest';
import { fileSize } from './file-size';
import { fileTypeLabel } from './file-type';

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1 KB'],
  [1536, '1.5 KB'],
  [86_541, '84.51 KB'],
  [3_008_000, '2.87 MB'],
  [1024 ** 3, '1 GB'],
  [2048 * 1024 ** 3, '2048 GB'],
])('%d bytes: %j', (bytes, shown) => {
  expect(fileSize(bytes)).toBe(shown);
});

test('fileSize with one decimal', () => {
  expect([300_000, 3_008_000, 1024].map((bytes) => fileSize(bytes, 1))).toEqual(['293 KB', '2.9 MB', '1 KB']);
});

test.each([
  ['application/pdf', 'PDF'],
  ['image/jpeg', 'JPEG'],
  ['image/png', 'PNG'],
  ['image/gif', 'GIF'],
  ['application/msword', 'DOC'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'DOCX'],
  ['application/vnd.ms-powerpoint', 'PPT'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'PPTX'],
  ['audio/mpeg', 'MPEG'],
])('%j: %s', (mime, label) => {
  expect(fileTypeLabel(mime)).toBe(label);
});
