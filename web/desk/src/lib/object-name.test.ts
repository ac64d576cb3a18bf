import { expect, test } from 'vitest';
import { objectName } from './object-name';

test.each([
  ['Daawooyinka 2026 (v2).PDF', /^daawooyinka-2026-v2-[0-9a-f]{8}\.pdf$/],
  ['Résumé.pdf', /^re-sume-[0-9a-f]{8}\.pdf$/],
  ['../../etc/passwd', /^file-[0-9a-f]{8}\.etcpasswd$/],
  ['دواء.docx', /^file-[0-9a-f]{8}\.docx$/],
  ['.htaccess', /^htaccess-[0-9a-f]{8}$/],
  ['leaflet', /^leaflet-[0-9a-f]{8}$/],
  ['a.p/df', /^a-[0-9a-f]{8}\.pdf$/],
  [`${'x'.repeat(300)}.png`, /^x{60}-[0-9a-f]{8}\.png$/],
])('%s', (file, pattern) => {
  expect(objectName(file)).toMatch(pattern);
});

test('two files of one name have two names', () => {
  expect(objectName('a.pdf')).not.toBe(objectName('a.pdf'));
});
