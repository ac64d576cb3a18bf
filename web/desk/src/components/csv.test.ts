import { expect, test } from 'vitest';
import { csv } from './csv';

test('a spreadsheet takes no cell for a formula', () => {
  const text = csv([
    ["=cmd|' /C calc'!A0", '+252612345678', '@x', '-1', '\tx'],
    [-1, 2, null, undefined, 'a "b", c'],
  ]);
  expect(text).toBe(`'=cmd|' /C calc'!A0,'+252612345678,'@x,'-1,'\tx\r\n-1,2,,,"a ""b"", c"\r\n`);
});
