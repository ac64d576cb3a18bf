import { expect, test } from 'vitest';
import { fileKind } from './file-kind';

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const file = (content: string, name: string, type = '') => new File([bytes(content)], name, { type });
const zip = (entry: string) => `PK\x03\x04${'\0'.repeat(70_000)}PK\x01\x02${entry}`;

test.each([
  ['%PDF-1.7\n', 'a.txt', 'application/pdf'],
  ['\xff\xd8\xff\xe0', 'a.pdf', 'image/jpeg'],
  ['\x89PNG\r\n\x1a\n', 'a', 'image/png'],
  ['GIF89a', 'a', 'image/gif'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a.PPT', 'application/vnd.ms-powerpoint'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a.doc', 'application/msword'],
  [
    zip('word/document.xml'),
    'a.zip',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  [
    zip('ppt/presentation.xml'),
    'a',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  [zip('evil.exe'), 'a.docx', ''],
  ['<script>alert(1)</script>', 'a.pdf', ''],
  ['MZ\x90', 'guide.pdf', ''],
  ['', 'empty.pdf', ''],
])('%#: the content decides, not the name', async (content, name, kind) => {
  expect(await fileKind(file(content, name, 'application/pdf'))).toBe(kind);
});
