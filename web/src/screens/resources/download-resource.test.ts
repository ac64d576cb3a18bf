// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { fileAddress } from './download-resource';

test.each([
  [
    '/storage/v1/object/public/resources/a.pdf',
    `${location.origin}/storage/v1/object/public/resources/a.pdf`,
  ],
  ['files/a guide.pdf', `${location.origin}/files/a%20guide.pdf`],
  ['https://files.example.org/a.pdf', 'https://files.example.org/a.pdf'],
  ['#', undefined],
  ['', undefined],
  [' ', undefined],
  ['javascript:alert(1)', undefined],
  [' JavaScript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['https://', undefined],
])('the address of %j', (fileUrl, address) => {
  expect(fileAddress(fileUrl)).toBe(address);
});
